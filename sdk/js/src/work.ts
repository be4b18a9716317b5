import type { Environment, Options, Problem, Timing } from "./types.js";

/** One stretch of looking after a payment: from a press, a reload or a return to the page until it ends or the page is left. */
export interface Work {
  options: Options;
  env: Environment;
  timing: Timing;
  signal: AbortSignal;
  /** When it has been tried for long enough. */
  until: number;
}

/** Is thrown when whoever is asked will not tell this page. It says nothing about the payment. */
export class Refused extends Error {
  constructor(readonly problem: Problem | null) {
    super("nobody tells");
  }
}

/** Where a request goes, and how. */
export interface Address {
  url: string;
  headers: Headers;
  credentials: RequestCredentials;
}

export type Headers = Record<string, string>;

export function join(base: string | undefined, path: string): string {
  return (base ?? "").replace(/\/$/, "") + path;
}

/** An address of the shop's own that is about one attempt. */
export function ofAttempt(url: string, attempt: string): string {
  return url + (url.includes("?") ? "&" : "?") + "payment_attempt_id=" + attempt;
}

export function shopRequest(options: Options): Omit<Address, "url"> {
  return { headers: { ...options.headers?.() }, credentials: options.credentials ?? "same-origin" };
}

export async function bearer(options: Options): Promise<Headers> {
  return { Authorization: "Bearer " + (await options.authorization!()) };
}

export async function payAt({ options: o }: Work): Promise<Address> {
  if (o.payUrl) return { url: o.payUrl, ...shopRequest(o) };
  return { url: join(o.apiUrl, "/v1/orders/" + encodeURIComponent(o.orderId) + "/pay"), headers: await bearer(o), credentials: "omit" };
}

export async function completeAt({ options: o }: Work, attempt: string): Promise<Address> {
  if (o.completeUrl) return { url: ofAttempt(o.completeUrl, attempt), ...shopRequest(o) };
  return { url: join(o.apiUrl, "/v1/payment-attempts/" + attempt + "/complete"), headers: await bearer(o), credentials: "omit" };
}
