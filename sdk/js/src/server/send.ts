import { problemOf } from "./problem.js";

export interface Sending {
  /** Sends a request; the global `fetch` by default. */
  fetch: typeof fetch;
  /** How often a request is sent at most; 8 by default. */
  tries: number;
  /** For how many milliseconds tries are begun; 2 minutes by default. */
  giveUp: number;
  /** How many milliseconds a try may last; 90 seconds by default, which is longer than a long poll. */
  timeout: number;
  /** The milliseconds before the second try; they double up to `maxPause`, each with up to half of it more or less by chance. 200 and 10,000 by default. */
  firstPause: number;
  maxPause: number;
}

export interface Outgoing {
  method: string;
  headers: Headers;
  body?: string | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Sends a request until its result is known. A read, and a command with an `Idempotency-Key`, is sent again after a broken connection, a 408, a
 * 429 or a 5xx, and while the same request is running, unless the problem says that it is not retryable. Each try has the same key and body.
 * Resolves with the last response; rejects if the last try had none.
 */
export async function send(o: Sending, url: string, request: Outgoing): Promise<Response> {
  const repeatable = request.method === "GET" || request.headers.has("Idempotency-Key");
  const end = performance.now() + o.giveUp;
  for (let n = 1; ; n++) {
    let last: Response | undefined, failure: unknown, asked: number | null = null;
    try {
      last = await once(o, url, request);
      const text = await last.clone().text();
      if (!repeatable || !passing(last, text)) return last;
      asked = askedFor(last, text);
    } catch (error) {
      request.signal?.throwIfAborted();
      if (!repeatable) throw error;
      failure = error;
    }
    const wait = asked ?? Math.min(o.maxPause, o.firstPause * 2 ** (n - 1)) * (0.5 + Math.random());
    if (n >= o.tries || performance.now() + wait > end) {
      if (last) return last;
      throw failure;
    }
    await pause(wait, request.signal);
  }
}

/** Sends the request once, and reads the whole response. */
async function once(o: Sending, url: string, { method, headers, body, signal }: Outgoing): Promise<Response> {
  signal?.throwIfAborted();
  const stop = new AbortController();
  const leave = (): void => stop.abort(signal?.reason);
  const late = (): void => stop.abort(new DOMException(`paylatch: no response within ${o.timeout} ms`, "TimeoutError"));
  const timer = setTimeout(late, o.timeout);
  signal?.addEventListener("abort", leave);
  try {
    const response = await o.fetch(url, { method, headers, signal: stop.signal, ...(body === undefined ? {} : { body }) });
    const bytes = await response.arrayBuffer();
    const { status, statusText } = response;
    return new Response(status === 204 || status === 304 ? null : bytes, { status, statusText, headers: response.headers });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", leave);
  }
}

/** Whether time may lift the refusal of this very request. */
function passing(response: Response, text: string): boolean {
  if (response.ok || response.status === 304) return false;
  const { status, code, retryable } = problemOf(response, text);
  if (code && !retryable) return false;
  return status === 408 || status === 429 || status >= 500 || (status === 409 && code === "request-in-progress");
}

/** The pause that a response asks for, in milliseconds; null for none. */
function askedFor(response: Response, text: string): number | null {
  const { retry_after_ms: exact } = problemOf(response, text);
  if (typeof exact === "number") return exact;
  const seconds = Number(response.headers.get("Retry-After") ?? NaN);
  return seconds >= 0 ? seconds * 1000 : null;
}

/** Waits; rejects as soon as the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      signal?.aborted ? reject(signal.reason) : resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
  });
}
