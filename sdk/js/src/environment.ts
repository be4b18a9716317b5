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
  late: 5_000,
  lateCap: 120_000,
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
    submit,
    report: (error) => (globalThis.reportError ?? console.error)(error),
    ...options.environment,
  };
}

/** A new client request id: 32 hex digits of chance. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

function submit(action: string, fields: Record<string, string>): void {
  const form = Object.assign(document.createElement("form"), { method: "post", action, hidden: true });
  for (const [name, value] of Object.entries(fields)) form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
  document.body.append(form);
  HTMLFormElement.prototype.submit.call(form); // a field may have the name "submit"
}

/** Tells texts apart: 53 bits of a hash (cyrb53), which keep no secret of them. */
export function digest(text: string): string {
  let a = 0xdeadbeef, b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    a = Math.imul(a ^ c, 2654435761);
    b = Math.imul(b ^ c, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(36);
}
