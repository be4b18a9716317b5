import { Checkout } from "./checkout.js";
import type { Options, Payment } from "./types.js";

export { idle } from "./checkout.js";

export type { Checkout } from "./checkout.js";
export type * from "./types.js";

/**
 * Takes charge of one order's payment on this page: one client request id from the first press to the final answer, across retries,
 * reloads, tabs and lost networks.
 */
export function createCheckout<Pay extends object = Payment, Form extends object = object>(options: Options<Form>): Checkout<Pay> {
  return new Checkout<Pay>(options as Options);
}
