/** A payment attempt, as the API shows it. Amounts are in minor units of the currency. */
export interface Attempt {
  payment_attempt_id: string;
  order_id: string;
  status: "pending" | "succeeded" | "failed";
  stage: "requested" | "awaiting_customer" | "authorized" | "outcome_unknown" | "final";
  amount: number;
  currency: string;
  amount_captured: number;
  amount_refunded: number;
  amount_disputed: number;
  /** `external`: the shop called the provider; `imported`: of the past. */
  origin: "paylatch" | "external" | "imported";
  next_action: { type: string; url: string } | null;
  failure: { code: string; message: string } | null;
  /** Whether the order takes another pay. It may change with another attempt. */
  can_start_new_attempt: boolean;
  next_poll_ms: number;
  version: number;
  [member: string]: unknown;
}

/** An RFC 9457 problem of the API, or what was made of an answer that is none. */
export interface Problem {
  status: number;
  code: string;
  title?: string;
  detail?: string;
  retryable: boolean;
  retry_after_ms?: number;
  attempt?: Attempt;
  [member: string]: unknown;
}

/**
 * Where a payment stands.
 *
 * - `idle`: nothing was pressed yet, or what was pressed has failed and nobody tells this page whether the order takes another pay, or nobody
 *   tells of it any more.
 * - `sending`: the pay is on its way for the first time.
 * - `checking`: it is being found out what became of it.
 * - `form`: the provider's own form is on the page, see `mount`, and the customer has not finished there as far as paylatch knows.
 * - `action`: the customer must do something at `attempt.next_action.url`.
 * - `succeeded`, `failed`, `cancelled`: the order is paid, the attempt failed, the order was cancelled, or is being. Of these a page that opens
 *   shows the first two again; it asks anew whether an order is cancelled.
 * - `arrived`: the attempt had failed, and its money came after all. The shop decides what becomes of it: say that it is looking at it, never
 *   that the payment failed, and offer no other one.
 * - `refused`: the request itself was wrong, see `problem`; nothing was begun.
 * - `unknown`: the looking has ended without an answer. Nothing has failed: `resume` and `pay` look on, with the same key, and begin nothing
 *   new.
 */
export type Phase =
  | "idle" | "sending" | "checking" | "form" | "action"
  | "succeeded" | "failed" | "arrived" | "cancelled" | "refused" | "unknown";

/** What a page shows. */
export interface State {
  phase: Phase;
  /** Whether a press of the button means something now. In `unknown` it means: look again. */
  canPay: boolean;
  /** Nobody answers at the moment; it is being tried again. */
  offline: boolean;
  /** Another tab of this browser does the work; this one shows it. */
  elsewhere: boolean;
  attempt: Attempt | null;
  problem: Problem | null;
}

/** What is sent to pay. The shop's backend may take other members than the API does. */
export interface Payment {
  payment_method?: { token: string };
  [member: string]: unknown;
}

/** What the browser is asked for; a test or an unusual host brings its own. */
export interface Environment {
  fetch: typeof fetch;
  storage: Pick<Storage, "getItem" | "setItem" | "removeItem"> | null;
  locks: Pick<LockManager, "request"> | null;
  channel: ((name: string) => BroadcastChannel) | null;
  /** Where `online`, `pagehide` and `pageshow` happen. */
  events: EventTarget | null;
  random: () => number;
}

/** Times in milliseconds. */
export interface Timing {
  /** The first pause before a retry is at most this; it doubles. */
  backoff: number;
  /** No pause of our own choosing is longer. A server may ask for more. */
  backoffCap: number;
  /** A request without an answer for so long is sent again. */
  requestTimeout: number;
  /** How long the server may hold a long poll. */
  wait: number;
  /** A stream that says nothing at first for so long does not work here. */
  firstEvent: number;
  /** A stream that has fallen silent for so long is opened anew. */
  silence: number;
  /**
   * After so long without a final answer the page looks on for `requestTimeout`, since it may have been suspended, and ends in `unknown`.
   */
  giveUp: number;
  /** `resume` sends a pay whose answer was lost only if it was pressed no longer ago. */
  resendWithin: number;
  /** Another tab that is at work and does not answer for so long is not waited for: its browser may have suspended it. */
  otherTab: number;
}

export interface Options {
  orderId: string;
  /** The shop's own address that takes the pay and passes it on with the header Idempotency-Key. Not needed with `authorization`. */
  payUrl?: string;
  /** paylatch's own address; empty for that of the page. */
  apiUrl?: string;
  /**
   * The shop's own address that answers with an attempt of this order, for when there is no status token (another device began the
   * payment) or it has expired, after a day. It is asked with `?payment_attempt_id=…`.
   */
  statusUrl?: string;
  /**
   * The attempt of which the page's server knows that it is pending or has succeeded. It is followed where storage knows of none that is
   * under way, or when that one has failed, or is a press that is too old to be sent again; an older failure that storage knows of gives way
   * to it.
   */
  attempt?: string;
  /** A customer's token, for a page that calls paylatch itself. Never the merchant's own. */
  authorization?: () => string | Promise<string>;
  /** Further headers for the shop's own addresses, against cross-site requests for example. */
  headers?: () => Record<string, string>;
  /** How the shop's own addresses see cookies; `same-origin` by default. */
  credentials?: RequestCredentials;
  /**
   * Shows the provider's own form, for a payment that its script takes. Is called with the object that the shop's backend has added as `form`
   * to the answer to a pay, once for each attempt on each page: a reload asks the backend again, with the same key. What it returns takes the
   * form away, and is called when the attempt has ended, after `onStatus`, or the checkout is closed. What the form reports of the outcome is not to be believed.
   */
  mount?: (form: Record<string, any>, attempt: Attempt) => (() => void) | void;
  /** Is called with each change. */
  onStatus?: (state: State) => void;
  /** Takes the customer to the provider's page after a press; `false` leaves that to the page. */
  redirect?: ((url: string) => void) | false;
  /** Ends all work; the payment itself goes on. */
  signal?: AbortSignal;
  timing?: Partial<Timing>;
  environment?: Partial<Environment>;
}
