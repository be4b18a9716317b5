import { randomUUID } from "node:crypto";
import type {
  AmendOrder, Attempt, AttemptList, Complete, Confirm, CreateOrder, CreateRefund, Delivery, Dispute, Endpoints, Event, Events, ListAttemptsQuery,
  ListDeliveriesQuery, ListDisputesQuery, ListEndpointsQuery, ListOrdersQuery, ListPaymentAttemptsQuery, ListPayoutsQuery, ListReconciliationsQuery,
  ListRefundsQuery, ListSettlementsQuery, Order, Pay, Payout, Reconciliation, Redeliver, RedeliverQuery, Refund, RegisterAttempt, ReportAttempt,
  Settlement, TestEndpointQuery,
} from "./api.js";
import { ProblemError, problemOf } from "./problem.js";
import { pause, send, type Sending } from "./send.js";

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

interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

/** A new key for a command. Store it with its purpose before you use it. */
export const newKey = (): string => randomUUID();

/**
 * Calls one paylatch with one token, from a merchant's backend. A command is repeated with the same `Idempotency-Key` until its result arrives,
 * so a lost response never causes a second payment. A refusal is a {@link ProblemError}. A declined payment is no error but an attempt with the
 * status `failed`. The methods have the names of the contract's calls.
 */
export class Paylatch {
  readonly #base: string;
  readonly #token: string | (() => string | Promise<string>);
  readonly #sending: Sending;

  /** The token is a JWT or an API key with the role `service`, or a function that returns one. Never give it to a page. */
  constructor(url: string, token: string | (() => string | Promise<string>), sending: Partial<Sending> = {}) {
    if (!/^https?:$/.test(new URL(url).protocol)) throw new TypeError(`paylatch: ${url} must begin with http:// or https://`);
    this.#base = url.replace(/\/+$/, "");
    this.#token = token;
    this.#sending = { fetch: (input, init) => fetch(input, init), tries: 8, giveUp: 120_000, timeout: 90_000, firstPause: 200, maxPause: 10_000, ...sending };
  }

  /** Creates an order, the amount that a customer owes. */
  createOrder(order: CreateOrder, command: Command): Promise<Order> {
    return this.#command("POST", "/v1/orders", order, command);
  }

  /** Reads an order with its attempts. */
  readOrder(orderId: string, call?: Call): Promise<Order> {
    return this.#read(path`/v1/orders/${orderId}`, call);
  }

  /** Changes the terms of an order while no payment of it is under way or done. */
  amendOrder(orderId: string, changes: AmendOrder, command: Command): Promise<Order> {
    return this.#command("PATCH", path`/v1/orders/${orderId}`, changes, command);
  }

  /** Takes no further pay for an order; a pending attempt is cancelled at its provider. */
  cancelOrder(orderId: string, command: Command): Promise<Order> {
    return this.#command("POST", path`/v1/orders/${orderId}/cancel`, {}, command);
  }

  /** Tries to pay an order and returns the attempt, also a pending or failed one. */
  pay(orderId: string, pay: Pay, command: Command): Promise<Attempt> {
    return this.#command("POST", path`/v1/orders/${orderId}/pay`, pay, command);
  }

  /** Makes the attempt of a payment that is begun elsewhere. */
  registerAttempt(orderId: string, attempt: RegisterAttempt, command: Command): Promise<Attempt> {
    return this.#command("POST", path`/v1/orders/${orderId}/attempts`, attempt, command);
  }

  /** Lists the attempts of an order; with `client_request_id` the attempt of a pay request whose response was lost. */
  async listAttempts(orderId: string, query: ListAttemptsQuery = {}, call?: Call): Promise<Attempt[]> {
    return (await this.#read<AttemptList>(path`/v1/orders/${orderId}/attempts`, call, query)).items;
  }

  /** Reads an attempt. */
  readAttempt(attemptId: string, call?: Call): Promise<Attempt>;
  /** Reads an attempt if it has a newer version; null if not. */
  readAttempt(attemptId: string, call: AttemptCall & { version: number }): Promise<Attempt | null>;
  async readAttempt(attemptId: string, { version, wait, ...call }: AttemptCall = {}): Promise<Attempt | null> {
    const headers: Record<string, string> = version === undefined ? {} : { "If-None-Match": `"${version}"` };
    const response = await this.request("GET", path`/v1/payment-attempts/${attemptId}`, { ...call, query: { wait }, headers });
    return response.status === 304 ? null : this.#content(response);
  }

  /** Yields an attempt now and at each change, by long polls, until it is final. */
  async *followAttempt(attemptId: string, call: Call = {}): AsyncGenerator<Attempt, void, undefined> {
    for (let attempt = await this.readAttempt(attemptId, call); ; ) {
      yield attempt;
      if (attempt.status !== "pending") return;
      let newer: Attempt | null = null;
      while (!newer) {
        const began = performance.now();
        newer = await this.readAttempt(attemptId, { ...call, version: attempt.version, wait: 20 });
        // The server may respond before the wait is over.
        if (!newer) await pause(Math.max(0, 1000 - (performance.now() - began)), call.signal);
      }
      attempt = newer;
    }
  }

  /** Captures an authorized attempt, all of it or `amount`. */
  confirm(attemptId: string, confirm: Confirm, command: Command): Promise<Attempt> {
    return this.#command("POST", path`/v1/payment-attempts/${attemptId}/confirm`, confirm, command);
  }

  /** Passes on what the provider's page or script returned. */
  complete(attemptId: string, complete: Complete, command: Command): Promise<Attempt> {
    return this.#command("POST", path`/v1/payment-attempts/${attemptId}/complete`, complete, command);
  }

  /** Asks the provider now, at most once in 3 seconds. */
  checkAttempt(attemptId: string, call: Call = {}): Promise<Attempt> {
    return this.#json("POST", path`/v1/payment-attempts/${attemptId}/check`, call);
  }

  /** Reports the backend's knowledge of a payment that began elsewhere. */
  reportAttempt(attemptId: string, report: ReportAttempt, command: Command): Promise<Attempt> {
    return this.#command("POST", path`/v1/payment-attempts/${attemptId}/report`, report, command);
  }

  /** Cancels a pending attempt at its provider; it has failed once the provider reports that. */
  cancelAttempt(attemptId: string, command: Command): Promise<Attempt> {
    return this.#command("POST", path`/v1/payment-attempts/${attemptId}/cancel`, {}, command);
  }

  /** Refunds money of an attempt: `amount`, or all that is left. */
  createRefund(attemptId: string, refund: CreateRefund, command: Command): Promise<Refund> {
    return this.#command("POST", path`/v1/payment-attempts/${attemptId}/refunds`, refund, command);
  }

  /** Reads a refund. */
  readRefund(refundId: string, call?: Call): Promise<Refund> {
    return this.#read(path`/v1/refunds/${refundId}`, call);
  }

  /** Reads a dispute. */
  readDispute(disputeId: string, call?: Call): Promise<Dispute> {
    return this.#read(path`/v1/disputes/${disputeId}`, call);
  }

  /** Reads a payout. */
  readPayout(payoutId: string, call?: Call): Promise<Payout> {
    return this.#read(path`/v1/payouts/${payoutId}`, call);
  }

  /** Lists orders, newest first. Pages are read as they are needed, from the query's cursor on. */
  listOrders(query: ListOrdersQuery = {}, call?: Call): AsyncGenerator<Order, void, undefined> {
    return this.#list("/v1/orders", query, call);
  }

  /** Lists payment attempts as {@link listOrders} does orders. */
  listPaymentAttempts(query: ListPaymentAttemptsQuery = {}, call?: Call): AsyncGenerator<Attempt, void, undefined> {
    return this.#list("/v1/payment-attempts", query, call);
  }

  /** Lists refunds as {@link listOrders} does orders. */
  listRefunds(query: ListRefundsQuery = {}, call?: Call): AsyncGenerator<Refund, void, undefined> {
    return this.#list("/v1/refunds", query, call);
  }

  /** Lists disputes as {@link listOrders} does orders. */
  listDisputes(query: ListDisputesQuery = {}, call?: Call): AsyncGenerator<Dispute, void, undefined> {
    return this.#list("/v1/disputes", query, call);
  }

  /** Lists settlements as {@link listOrders} does orders. */
  listSettlements(query: ListSettlementsQuery = {}, call?: Call): AsyncGenerator<Settlement, void, undefined> {
    return this.#list("/v1/settlements", query, call);
  }

  /** Lists payouts as {@link listOrders} does orders. */
  listPayouts(query: ListPayoutsQuery = {}, call?: Call): AsyncGenerator<Payout, void, undefined> {
    return this.#list("/v1/payouts", query, call);
  }

  /** Lists reconciliations as {@link listOrders} does orders. */
  listReconciliations(query: ListReconciliationsQuery = {}, call?: Call): AsyncGenerator<Reconciliation, void, undefined> {
    return this.#list("/v1/reconciliations", query, call);
  }

  /** Lists the tries to deliver events to an endpoint, newest first. */
  listDeliveries(endpoint: string, query: ListDeliveriesQuery = {}, call?: Call): AsyncGenerator<Delivery, void, undefined> {
    return this.#list(path`/v1/endpoints/${endpoint}/deliveries`, query, call);
  }

  /** Lists the endpoints and their progress. */
  async listEndpoints(query: ListEndpointsQuery = {}, call?: Call): Promise<Endpoints["items"]> {
    return (await this.#read<Endpoints>("/v1/endpoints", call, query)).items;
  }

  /** Sends a test event to an endpoint, and returns its result. */
  testEndpoint(endpoint: string, query: TestEndpointQuery = {}, call: Call = {}): Promise<Delivery> {
    return this.#json("POST", path`/v1/endpoints/${endpoint}/test`, { ...call, query });
  }

  /** Delivers events again: all after a cursor, or some by their ids. */
  async redeliver(endpoint: string, which: Redeliver, query: RedeliverQuery = {}, call: Call = {}): Promise<Endpoints["items"]> {
    return (await this.#json<Endpoints>("POST", path`/v1/endpoints/${endpoint}/redeliver`, { ...call, query, body: which })).items;
  }

  /**
   * Yields events, oldest first, from a cursor on; without one from the oldest kept event, with `now` behind the newest. It waits for new events,
   * and ends by an error or the signal. Go on with the last entry's cursor. An event is delivered at least once. If the server's database was
   * restored to a time before the cursor, reading goes on from where no event is missed, and some events come again.
   */
  async *readEvents(after = "", feed: Feed = {}): AsyncGenerator<Entry, void, undefined> {
    const { wait = 20 } = feed;
    for (;;) {
      let page: Events;
      try {
        // `now` means a later place in a later request, so no entry may get it as its cursor. The first page has one event at most, which gets the
        // page's next cursor. The request does not wait, so the reader soon has a cursor to store.
        page = await (after === "now" ? this.#events(after, { ...feed, limit: 1 }, 0) : this.#events(after, feed, wait));
      } catch (error) {
        const restart = error instanceof ProblemError ? error.restart_after : undefined;
        if (!restart || restart === after) throw error;
        page = await this.#events((after = restart), feed, wait);
      }
      const { items, next_cursor: next } = page;
      for (const [i, event] of items.entries()) yield { event, cursor: i === items.length - 1 ? next : after };
      if (items.length === 0) {
        if (next !== after) await feed.moved?.(next);
        if (wait <= 0) return;
      }
      after = next;
    }
  }

  #events(after: string, { types, limit, signal }: Feed, wait: number): Promise<Events> {
    return this.#json("GET", "/v1/events", {
      signal, query: { after: after || undefined, type: types?.length ? types.join(",") : undefined, limit, wait: wait > 0 ? wait : undefined },
    });
  }

  /** Sends a request that has no method here, with the same retries, and returns the last response, also a refusal. */
  async request(method: string, path: string, raw: Raw = {}): Promise<Response> {
    const { query = {}, body, onBehalfOf, signal, headers: own, ...sending } = raw;
    const url = new URL(this.#base + path);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
    const token = typeof this.#token === "string" ? this.#token : await this.#token();
    const headers = new Headers({ Accept: "application/json", ...own, Authorization: `Bearer ${token}` });
    if (onBehalfOf !== undefined) headers.set("On-Behalf-Of", onBehalfOf);
    if (body !== undefined) headers.set("Content-Type", "application/json");
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    return send({ ...this.#sending, ...sending }, url.href, { method, headers, body: text, signal });
  }

  #command<T>(method: string, path: string, body: object, { key = newKey(), ...call }: Command): Promise<T> {
    return this.#json(method, path, { ...call, body, headers: { "Idempotency-Key": key } });
  }

  #read<T>(path: string, call: Call | undefined, query?: object): Promise<T> {
    return this.#json("GET", path, { ...call, query });
  }

  async *#list<T>(path: string, query: { cursor?: string | undefined }, call?: Call): AsyncGenerator<T, void, undefined> {
    let cursor = query.cursor ?? null;
    do {
      const page: Page<T> = await this.#read(path, call, { ...query, cursor: cursor ?? undefined });
      yield* page.items;
      cursor = page.next_cursor;
    } while (cursor !== null);
  }

  async #json<T>(method: string, path: string, raw: Raw): Promise<T> {
    return this.#content(await this.request(method, path, raw));
  }

  async #content<T>(response: Response): Promise<T> {
    const text = await response.text();
    if (!response.ok) throw new ProblemError(problemOf(response, text));
    return JSON.parse(text) as T;
  }
}

/** A path with ids in it. */
function path(parts: TemplateStringsArray, ...ids: string[]): string {
  return parts.reduce((whole, part, i) => whole + encodeURIComponent(ids[i - 1] ?? "") + part);
}
