import type { Event } from "./api.js";
/** Thrown for a delivery that no secret has signed, or that is older or newer than the tolerance: answer with 400. */
export declare class NotGenuineError extends Error {
    readonly name = "NotGenuineError";
}
/** Headers as Node, Express or a `Request` has them. */
export type AnyHeaders = Headers | Record<string, string | string[] | undefined>;
/** How deliveries are verified. */
export interface Verifying {
    /** The clock, in milliseconds; the computer's by default. */
    now?: number;
    /** How many seconds the time of the signature may be off, either way; 300 by default. */
    tolerance?: number;
}
/**
 * Returns the event of a delivery to an endpoint, which is signed by Standard Webhooks. The secrets are those of the endpoint's configuration
 * (`whsec_…`), all that are valid while one is replaced; one good signature is enough. `body` is the request's, byte for byte: JSON that was
 * parsed and written anew has other bytes.
 *
 * The same delivery may come again: act on it once, by the event's `id`, and answer with 2xx once your writes are on disk. Throws a
 * {@link NotGenuineError} for a stranger's delivery, and another error for secrets by which nothing can be verified and for a genuine delivery
 * that can't be read.
 */
export declare function parseEvent(secrets: readonly string[], headers: AnyHeaders, body: string | Uint8Array, options?: Verifying): Event;
/** Throws unless something can be verified by the secrets. */
export declare function checkSecrets(secrets: readonly string[]): void;
