import type { Environment, Options, Timing } from "./types.js";

export const defaultTiming: Timing = {
  backoff: 500,
  backoffCap: 20_000,
  requestTimeout: 30_000,
  wait: 20_000,
  firstEvent: 5_000,
  silence: 40_000,
  giveUp: 15 * 60_000,
  resendWithin: 10 * 60_000,
  otherTab: 4_000,
};

/** Private modes and sandboxed frames throw where others have storage. */
export function orNull<T>(get: () => T | null | undefined): T | null {
  try {
    return get() ?? null;
  } catch {
    return null;
  }
}

export function environmentOf(options: Options): Environment {
  return {
    fetch: (input, init) => fetch(input, init),
    storage: orNull(() => globalThis.localStorage),
    locks: orNull(() => globalThis.navigator?.locks),
    channel: globalThis.BroadcastChannel ? (name) => new BroadcastChannel(name) : null,
    events: globalThis.window ?? null,
    random: Math.random,
    ...options.environment,
  };
}

/** A new client request id: 32 hex digits of chance. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}
