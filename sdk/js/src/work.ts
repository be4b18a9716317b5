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

export type Headers = Record<string, string>;

export function join(base: string | undefined, path: string): string {
  return (base ?? "").replace(/\/$/, "") + path;
}

export function shopRequest(options: Options): { headers: Headers; credentials: RequestCredentials } {
  return { headers: { ...options.headers?.() }, credentials: options.credentials ?? "same-origin" };
}

export async function bearer(options: Options): Promise<Headers> {
  return { Authorization: "Bearer " + (await options.authorization!()) };
}
