import { createHmac, timingSafeEqual } from "node:crypto";
import type { Event } from "./api.js";
import { parse } from "./problem.js";

/** Thrown for a delivery that no secret has signed, or that is older or newer than the tolerance: answer with 400. */
export class NotGenuineError extends Error {
  override readonly name = "NotGenuineError";
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
export function parseEvent(secrets: readonly string[], headers: AnyHeaders, body: string | Uint8Array, options: Verifying = {}): Event {
  verify(secrets, headers, body, options);
  const event = parse(typeof body === "string" ? body : new TextDecoder().decode(body)) as Event | null;
  const id = header(headers, "webhook-id");
  if (!event?.id || event.id !== id) throw new Error(`paylatch: a genuine delivery with the id ${id} holds no event of this id`);
  return event;
}

/** Throws unless something can be verified by the secrets. */
export function checkSecrets(secrets: readonly string[]): void {
  if (secrets.length === 0) throw new Error("paylatch: no secret to verify by");
  secrets.forEach(keyOf);
}

function verify(secrets: readonly string[], headers: AnyHeaders, body: string | Uint8Array, { now = Date.now(), tolerance = 300 }: Verifying): void {
  if (secrets.length === 0) checkSecrets(secrets);
  const id = header(headers, "webhook-id"), stamp = header(headers, "webhook-timestamp"), signatures = header(headers, "webhook-signature").split(" ");
  const fresh = /^[+-]?\d{1,15}$/.test(stamp) && Math.abs(now - Number(stamp) * 1000) <= tolerance * 1000;
  for (const [i, secret] of secrets.entries()) {
    const mac = createHmac("sha256", keyOf(secret, i)).update(`${id}.${Number(stamp)}.`).update(body).digest("base64");
    if (id && fresh && signatures.some((signature) => signedBy(mac, signature))) return;
  }
  throw new NotGenuineError(fresh ? "paylatch: no secret has signed the delivery" : "paylatch: the delivery has no time, or is too old or too new");
}

/** Whether a signature, such as `v1,…`, is this one. The time that it takes tells nothing about the right one. */
function signedBy(mac: string, signature: string): boolean {
  const [version, given = ""] = signature.split(",");
  const a = new TextEncoder().encode(mac), b = new TextEncoder().encode(given);
  return version === "v1" && a.length === b.length && timingSafeEqual(a, b);
}

function keyOf(secret: string, i: number): Uint8Array {
  const text = secret.replace(/^whsec_/, "");
  if (!text || secret.length <= "whsec_".length) throw new Error(`paylatch: secret ${i} is empty`);
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) throw new Error(`paylatch: secret ${i} is not whsec_ and base64`);
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

function header(headers: AnyHeaders, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? "";
  const value = headers[name] ?? Object.entries(headers).find(([n]) => n.toLowerCase() === name)?.[1];
  return (Array.isArray(value) ? value[0] : value) ?? "";
}
