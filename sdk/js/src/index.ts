import { Checkout } from "./checkout.js";
import type { Options } from "./types.js";

export type { Checkout } from "./checkout.js";
export type { Attempt, Environment, Options, Payment, Phase, Problem, State, Timing } from "./types.js";

/**
 * Takes charge of one order's payment on this page: one client request id from the first press to the final answer, across retries,
 * reloads, tabs and lost networks.
 */
export function createCheckout(options: Options): Checkout {
  return new Checkout(options);
}
