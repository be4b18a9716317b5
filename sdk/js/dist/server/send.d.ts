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
export declare function send(o: Sending, url: string, request: Outgoing): Promise<Response>;
/** Waits; rejects as soon as the signal is aborted. */
export declare function pause(ms: number, signal?: AbortSignal): Promise<void>;
