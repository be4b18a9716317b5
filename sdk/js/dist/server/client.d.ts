import type { AmendOrder, Attempt, Complete, Confirm, CreateOrder, CreateRefund, Delivery, Dispute, Endpoints, Event, ListAttemptsQuery, ListDeliveriesQuery, ListDisputesQuery, ListEndpointsQuery, ListOrdersQuery, ListPaymentAttemptsQuery, ListPayoutsQuery, ListReconciliationsQuery, ListRefundsQuery, ListSettlementsQuery, Order, Pay, Payout, Reconciliation, Redeliver, RedeliverQuery, Refund, RegisterAttempt, ReportAttempt, Settlement, TestEndpointQuery } from "./api.js";
import { type Sending } from "./send.js";
/** How a request is sent. */
export interface Call {
    /** The user for whom a backend acts. Each command needs it; a read then returns only what is this user's. */
    onBehalfOf?: string | undefined;
    /** Ends the call, its tries and its pauses. */
    signal?: AbortSignal | undefined;
}
/** How a command is sent. */
export interface Command extends Call {
    /**
     * Names the intention, 8 to 200 characters of `A-Z a-z 0-9 - _ . : ~`. The same key with the same request gets the same response, for ever for
     * payments and refunds. Store it with its purpose, such as the cart, before the call. Without it each call has a key of its own.
     */
    key?: string | undefined;
}
/** How an attempt is read. */
export interface AttemptCall extends Call {
    /** With the `version` that you have and `wait`, in seconds: the response waits for a newer one, and is null if there is none. */
    version?: number | undefined;
    wait?: number | undefined;
}
/** The events to read. */
export interface Feed {
    /** The types to read; all of them by default. */
    types?: readonly string[];
    /** How many events a page has at most. */
    limit?: number;
    /** How many seconds a request waits for something new, at most 60; 20 by default. With 0 the reading ends where nothing is new. */
    wait?: number;
    /**
     * Called with a cursor that has moved on over events of other types alone: store it, too, or it expires. From `now` on, it is called with the
     * first cursor as well.
     */
    moved?: (cursor: string) => void | Promise<void>;
    signal?: AbortSignal | undefined;
}
/** An event of the feed. */
export interface Entry {
    event: Event;
    /**
     * Where to go on once this event and all before it were acted on: store it with the effect. Within a page it is where the page began, so that
     * after a crash some events come again.
     */
    cursor: string;
}
/** A request that has no method here. */
export interface Raw extends Call, Partial<Omit<Sending, "fetch">> {
    query?: object | undefined;
    body?: object | string | undefined;
    headers?: Record<string, string> | undefined;
}
/** A new key for a command. Store it with its purpose before you use it. */
export declare const newKey: () => string;
/**
 * Calls one paylatch with one token, from a merchant's backend. A command is repeated with the same `Idempotency-Key` until its result arrives,
 * so a lost response never causes a second payment. A refusal is a {@link ProblemError}. A declined payment is no error but an attempt with the
 * status `failed`. The methods have the names of the contract's calls.
 */
export declare class Paylatch {
    #private;
    /** The token is a JWT or an API key with the role `service`, or a function that returns one. Never give it to a page. */
    constructor(url: string, token: string | (() => string | Promise<string>), sending?: Partial<Sending>);
    /** Creates an order, the amount that a customer owes. */
    createOrder(order: CreateOrder, command: Command): Promise<Order>;
    /** Reads an order with its attempts. */
    readOrder(orderId: string, call?: Call): Promise<Order>;
    /** Changes the terms of an order while no payment of it is under way or done. */
    amendOrder(orderId: string, changes: AmendOrder, command: Command): Promise<Order>;
    /** Takes no further pay for an order; a pending attempt is cancelled at its provider. */
    cancelOrder(orderId: string, command: Command): Promise<Order>;
    /** Tries to pay an order and returns the attempt, also a pending or failed one. */
    pay(orderId: string, pay: Pay, command: Command): Promise<Attempt>;
    /** Makes the attempt of a payment that is begun elsewhere. */
    registerAttempt(orderId: string, attempt: RegisterAttempt, command: Command): Promise<Attempt>;
    /** Lists the attempts of an order; with `client_request_id` the attempt of a pay request whose response was lost. */
    listAttempts(orderId: string, query?: ListAttemptsQuery, call?: Call): Promise<Attempt[]>;
    /** Reads an attempt. */
    readAttempt(attemptId: string, call?: Call): Promise<Attempt>;
    /** Reads an attempt if it has a newer version; null if not. */
    readAttempt(attemptId: string, call: AttemptCall & {
        version: number;
    }): Promise<Attempt | null>;
    /** Yields an attempt now and at each change, by long polls, until it is final. */
    followAttempt(attemptId: string, call?: Call): AsyncGenerator<Attempt, void, undefined>;
    /** Captures an authorized attempt, all of it or `amount`. */
    confirm(attemptId: string, confirm: Confirm, command: Command): Promise<Attempt>;
    /** Passes on what the provider's page or script returned. */
    complete(attemptId: string, complete: Complete, command: Command): Promise<Attempt>;
    /** Asks the provider now, at most once in 3 seconds. */
    checkAttempt(attemptId: string, call?: Call): Promise<Attempt>;
    /** Reports the backend's knowledge of a payment that began elsewhere. */
    reportAttempt(attemptId: string, report: ReportAttempt, command: Command): Promise<Attempt>;
    /** Cancels a pending attempt at its provider; it has failed once the provider reports that. */
    cancelAttempt(attemptId: string, command: Command): Promise<Attempt>;
    /** Refunds money of an attempt: `amount`, or all that is left. */
    createRefund(attemptId: string, refund: CreateRefund, command: Command): Promise<Refund>;
    /** Reads a refund. */
    readRefund(refundId: string, call?: Call): Promise<Refund>;
    /** Reads a dispute. */
    readDispute(disputeId: string, call?: Call): Promise<Dispute>;
    /** Reads a payout. */
    readPayout(payoutId: string, call?: Call): Promise<Payout>;
    /** Lists orders, newest first. Pages are read as they are needed, from the query's cursor on. */
    listOrders(query?: ListOrdersQuery, call?: Call): AsyncGenerator<Order, void, undefined>;
    /** Lists payment attempts as {@link listOrders} does orders. */
    listPaymentAttempts(query?: ListPaymentAttemptsQuery, call?: Call): AsyncGenerator<Attempt, void, undefined>;
    /** Lists refunds as {@link listOrders} does orders. */
    listRefunds(query?: ListRefundsQuery, call?: Call): AsyncGenerator<Refund, void, undefined>;
    /** Lists disputes as {@link listOrders} does orders. */
    listDisputes(query?: ListDisputesQuery, call?: Call): AsyncGenerator<Dispute, void, undefined>;
    /** Lists settlements as {@link listOrders} does orders. */
    listSettlements(query?: ListSettlementsQuery, call?: Call): AsyncGenerator<Settlement, void, undefined>;
    /** Lists payouts as {@link listOrders} does orders. */
    listPayouts(query?: ListPayoutsQuery, call?: Call): AsyncGenerator<Payout, void, undefined>;
    /** Lists reconciliations as {@link listOrders} does orders. */
    listReconciliations(query?: ListReconciliationsQuery, call?: Call): AsyncGenerator<Reconciliation, void, undefined>;
    /** Lists the tries to deliver events to an endpoint, newest first. */
    listDeliveries(endpoint: string, query?: ListDeliveriesQuery, call?: Call): AsyncGenerator<Delivery, void, undefined>;
    /** Lists the endpoints and their progress. */
    listEndpoints(query?: ListEndpointsQuery, call?: Call): Promise<Endpoints["items"]>;
    /** Sends a test event to an endpoint, and returns its result. */
    testEndpoint(endpoint: string, query?: TestEndpointQuery, call?: Call): Promise<Delivery>;
    /** Delivers events again: all after a cursor, or some by their ids. */
    redeliver(endpoint: string, which: Redeliver, query?: RedeliverQuery, call?: Call): Promise<Endpoints["items"]>;
    /**
     * Yields events, oldest first, from a cursor on; without one from the oldest kept event, with `now` behind the newest. It waits for new events,
     * and ends by an error or the signal. Go on with the last entry's cursor. An event is delivered at least once. If the server's database was
     * restored to a time before the cursor, reading goes on from where no event is missed, and some events come again.
     */
    readEvents(after?: string, feed?: Feed): AsyncGenerator<Entry, void, undefined>;
    /** Sends a request that has no method here, with the same retries, and returns the last response, also a refusal. */
    request(method: string, path: string, raw?: Raw): Promise<Response>;
}
