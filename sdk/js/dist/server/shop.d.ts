import { type CreateOrder, type Event, type Pay } from "./api.js";
import type { Paylatch } from "./client.js";
/** Answers a request: a route of Next and of whatever else uses `Request` and `Response`. For Node and Express see `toNode`. */
export type Handler<Context = unknown> = (request: Request, context: Context) => Promise<Response>;
/** An order's terms. */
export type NewOrder = Omit<CreateOrder, "order_id">;
/** A shop's part of a checkout. `Context` is what its framework gives a route beside the request. */
export interface Shop<Context = unknown> {
    paylatch: Paylatch;
    /** The id of the signed-in customer, by the shop's own session; null if nobody is signed in. */
    user: (request: Request, context: Context) => string | null | Promise<string | null>;
    /**
     * The terms of an order by the shop's own records, with its price; null unless the order is this customer's. Nothing that a page sends is in it.
     * It is called when a page creates the order, and must return the same each time.
     */
    order: (user: string, orderId: string) => NewOrder | null | Promise<NewOrder | null>;
    /**
     * Adds to a page's pay request what the backend decides: the account, the capture, the address to return to. It must return the same for each
     * copy of a request: no times and no random values.
     */
    pay?: (pay: Pay, user: string, orderId: string) => Pay | Promise<Pay>;
    /** The path before the order's id; `/checkout` by default. */
    base?: string;
    /** The origins of pages that may send commands, if they are others than the shop's own, such as `https://www.shop.example`. */
    origins?: readonly string[];
    /** Called with each error of the shop's functions, and if paylatch did not respond; `console.error` by default. */
    onError?: (error: unknown) => void;
}
/**
 * Returns the routes of a checkout, which the browser client calls:
 *
 * - `POST {base}/{order_id}` creates the order at paylatch, with the shop's price, and returns it;
 * - `POST {base}/{order_id}/pay` is `payUrl`;
 * - `GET {base}/{order_id}/status` is `statusUrl`;
 * - `POST {base}/{order_id}/complete` is `completeUrl`, the second step and the return from a provider's page.
 *
 * They act for the signed-in customer alone, so paylatch refuses the orders and attempts of others. A page may set no more than a customer's own
 * token could. A command from another site is refused (`Sec-Fetch-Site`, else `Origin`), so the session's cookie needs no token against that.
 */
export declare function createShop<Context = unknown>(shop: Shop<Context>): Handler<Context>;
/** What a shop does with the events of an endpoint. */
export interface Receiver {
    /** The secrets of the endpoint's configuration; two while one is replaced. */
    secrets: readonly string[];
    /** Acts on an event, once for its `id`, and resolves once the writes are on disk. If it rejects, the event comes again. */
    act: (event: Event) => Promise<void>;
    /** Called with each error of a genuine delivery; `console.error` by default. */
    onError?: (error: unknown) => void;
}
/**
 * Returns the route that takes deliveries. It answers 204 once an event was acted on, 400 if the delivery is not genuine, 413 if it is too large,
 * 500 if a genuine one can't be read, and 503 if `act` rejects. paylatch delivers again whatever got no 2xx. Throws for secrets by which nothing
 * can be verified.
 */
export declare function createReceiver({ secrets, act, onError }: Receiver): Handler;
