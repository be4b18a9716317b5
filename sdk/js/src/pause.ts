import type { Environment, Problem, Timing } from "./types.js";

/** Is thrown when it has been tried for long enough. It says nothing about the payment. */
export class TimeUp extends Error {}

/**
 * How long to wait before try number `n` (from 0): full jitter up to a doubling, capped bound, on top of what the server asked for.
 */
export function backoff(n: number, asked: number, env: Environment, timing: Timing): number {
  return asked + env.random() * Math.min(timing.backoffCap, timing.backoff * 2 ** Math.min(n, 20));
}

/** Is thrown when a request has been silent for too long. */
export class Late extends Error {}

/** What Retry-After or the problem asks for, in milliseconds; 0 for nothing. */
export function askedFor(header: string | null | undefined, problem?: Problem | null): number {
  if (problem?.retry_after_ms) return problem.retry_after_ms;
  if (!header) return 0;
  const seconds = Number(header);
  return Math.max(0, Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now() || 0);
}

/** Waits; the network's return ends the wait early unless a server asked for it. Throws TimeUp rather than wait past the deadline. */
export function pause(ms: number, until: number, signal: AbortSignal, env: Environment, patient = false): Promise<void> {
  signal.throwIfAborted();
  if (Date.now() + ms > until) return Promise.reject(new TimeUp());
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      env.events?.removeEventListener("online", end);
      signal.removeEventListener("abort", end);
      signal.aborted ? reject(signal.reason) : resolve();
    };
    const timer = setTimeout(end, ms);
    if (!patient) env.events?.addEventListener("online", end);
    signal.addEventListener("abort", end);
  });
}

/** Runs with a signal that also ends after a time without a call of `alive`. */
export async function within<T>(
  ms: number, outer: AbortSignal, run: (signal: AbortSignal, alive: (ms: number) => void) => Promise<T>,
): Promise<T> {
  outer.throwIfAborted();
  const inner = new AbortController();
  const end = (): void => inner.abort(outer.reason);
  const late = (): void => inner.abort(new Late());
  let timer = setTimeout(late, ms);
  outer.addEventListener("abort", end);
  try {
    return await run(inner.signal, (next) => {
      clearTimeout(timer);
      timer = setTimeout(late, next);
    });
  } finally {
    clearTimeout(timer);
    outer.removeEventListener("abort", end);
  }
}
