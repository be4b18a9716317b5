import type { FailureCode } from "./server/api.js";

export type { FailureCode };

/** A payment attempt, as the API shows it. Amounts are in minor units of the currency, times are RFC 3339. */
export interface Attempt {
  payment_attempt_id: string;
  order_id: string;
  user_id: string;
  /** The `Idempotency-Key` of the pay request; absent if the attempt is the `attempt` of a problem. */
  client_request_id?: string;
  account: string;
  /** Null until the provider has named the payment. */
  provider_payment_id: string | null;
  /** All payments at the provider that belong to the attempt, in the order in which they were reported. */
  payments: ProviderPayment[];
  status: "pending" | "succeeded" | "failed";
  stage: "requested" | "awaiting_customer" | "authorized" | "outcome_unknown" | "final";
  amount: number;
  currency: string;
  amount_captured: number;
  amount_refunded: number;
  amount_disputed: number;
  capture: "automatic" | "manual";
  /** `external`: the shop called the provider; `imported`: an import of past payments made it. */
  origin: "paylatch" | "external" | "imported";
  /** The action that the customer must take now; null without one. */
  next_action: NextAction | null;
  /** The payment method that the provider has stored for the customer; null without one. */
  saved_payment_method: SavedPaymentMethod | null;
  disputes: Dispute[];
  /** The reason why the attempt failed. While the customer may try again on the provider's page, it is the reason of the last decline. */
  failure: Failure | null;
  /** Whether the order accepts another attempt. Another attempt may change this. */
  can_start_new_attempt: boolean;
  next_poll_ms: number;
  version: number;
  created_at: string;
  updated_at: string;
  finalized_at: string | null;
  /** The provider's own review of the payment; null without a review. */
  review: "open" | "approved" | "declined" | null;
}

/** One payment at the provider. Its amounts are in the attempt's currency. */
export interface ProviderPayment {
  /** Empty until the provider has named the payment. */
  provider_payment_id: string;
  /** The provider's id of the page, session or order that the payment was made in; empty without one. */
  container: string;
  status: "open" | "processing" | "authorized" | "captured" | "failed" | "canceled";
  amount_authorized: number;
  amount_captured: number;
  amount_refunded: number;
  amount_disputed: number;
  /** The time of the last report that changed the payment. */
  seen_at: string;
}

/** The action that an attempt with the stage `awaiting_customer` waits for. A later version of paylatch may add types. */
export type NextAction = RedirectAction | PostFormAction | SdkAction | DisplayAction;

/** The customer goes to the page at `url`. */
export interface RedirectAction {
  type: "redirect";
  url: string;
  /** The time when the action expires, if the provider reports it. */
  expires_at?: string;
}

/** The page posts a form with these fields to `url`, and the customer goes there. */
export interface PostFormAction {
  type: "post_form";
  url: string;
  fields: Record<string, string>;
  expires_at?: string;
}

/** The provider's script continues with `data`. Its members depend on the account's kind, such as `client_secret` for Stripe. */
export interface SdkAction {
  type: "sdk";
  data: object;
  expires_at?: string;
}

/**
 * The page shows the customer a voucher, a code or a QR code. `data` depends on the account's kind; `url` is the provider's page, if there is
 * one.
 */
export interface DisplayAction {
  type: "display";
  data: object;
  url?: string;
  expires_at?: string;
}

export interface SavedPaymentMethod {
  /** The token for a later payment of the same customer, with `stored`. */
  token: string;
  type: string;
  /** A text for people, such as the brand and the last four digits. */
  display: string;
  /** The last month in which the payment method is valid, as YYYY-MM; null if unknown. */
  expires: string | null;
  /** The time at which the provider removed the payment method; null while it can be charged. */
  removed_at: string | null;
}

export interface Dispute {
  dispute_id: string;
  payment_attempt_id: string;
  provider_dispute_id: string;
  status: "warning" | "open" | "under_review" | "won" | "lost" | "accepted";
  reason: string | null;
  amount: number | null;
  currency: string | null;
  due_by: string | null;
  opened_at: string;
  closed_at: string | null;
}

export interface Failure {
  code: FailureCode;
  /** A sentence for the customer. */
  message: string;
  provider_code: string | null;
}

/** An RFC 9457 problem of the API. If a response is not a problem, the client makes a problem from it, with only the first three members. */
export interface Problem {
  status: number;
  code: string;
  retryable: boolean;
  /** Whether the same intention may be sent under a new key. */
  safe_new_key?: boolean;
  type?: string;
  title?: string;
  detail?: string;
  request_id?: string;
  retry_after_ms?: number;
  errors?: { field: string; message: string }[];
  attempt?: Attempt;
}

/**
 * The phase of a payment.
 *
 * - `idle`: the customer has not pressed the button yet. Or the attempt has failed, and this page can't learn whether the order accepts another
 *   attempt. Or no address returns the attempt any more.
 * - `sending`: the page sends the pay request for the first time.
 * - `checking`: the page checks the result of the pay request.
 * - `form`: the page shows the provider's form, see `mount`. As far as paylatch knows, the customer has not finished it.
 * - `action`: the customer must take the action in `attempt.next_action`.
 * - `succeeded`, `failed`: the order is paid; the attempt has failed. A page that opens shows these phases again.
 * - `cancelled`: the order is cancelled or is being cancelled. A page that opens asks again whether the order is cancelled.
 * - `arrived`: the attempt had failed, but its money arrived later. The shop decides about the money. Tell the customer that the shop is looking
 *   at the payment. Never say that the payment failed, and offer no other payment.
 * - `refused`: the request itself was wrong, see `problem`. Nothing was begun.
 * - `unknown`: the page has stopped checking without a result. Nothing has failed: `resume` and `pay` continue to check with the same key, and
 *   begin nothing new.
 */
export type Phase =
  | "idle" | "sending" | "checking" | "form" | "action"
  | "succeeded" | "failed" | "arrived" | "cancelled" | "refused" | "unknown";

/** The state that a page shows. */
export interface State {
  phase: Phase;
  /** Whether the button has an effect now. In `unknown` it checks again. */
  canPay: boolean;
  /** In `action`: whether `act()` starts the action now. It is false while the action is under way, and if the page starts the action by itself. */
  canAct: boolean;
  /** No server responds at the moment; the page tries again. */
  offline: boolean;
  /** Another tab of this browser does the work; this tab shows the state. */
  elsewhere: boolean;
  attempt: Attempt | null;
  problem: Problem | null;
}

/**
 * The body of a pay request, with the members of the API. If a shop's backend accepts other members, give their type to `createCheckout`.
 * Only the backend may add some members, such as `payment_method.stored`.
 */
export interface Payment {
  account?: string;
  payment_method?: { token: string; type?: string; stored?: boolean };
  save_payment_method?: boolean;
  initiator?: "customer" | "merchant";
  statement_descriptor?: string;
  customer?: Customer;
  browser?: BrowserInfo;
  lines?: Line[];
  /** Members of the provider's own request. */
  provider_data?: object;
  capture?: "automatic" | "manual";
  return_url?: string;
  amount?: number;
  currency?: string;
  supersedes?: string;
}

export interface Customer {
  reference?: string;
  email?: string;
  name?: string;
  phone?: string;
  ip?: string;
  locale?: string;
  billing_address?: Address | null;
  shipping_address?: Address | null;
}

export interface Address {
  line1?: string;
  line2?: string;
  city?: string;
  postal_code?: string;
  state?: string;
  country: string;
}

/** The data about the browser that 3-D Secure needs. */
export interface BrowserInfo {
  user_agent?: string;
  accept_header?: string;
  language?: string;
  color_depth?: number;
  screen_height?: number;
  screen_width?: number;
  /** The result of `getTimezoneOffset()`. */
  time_zone_offset?: number;
  java_enabled?: boolean;
}

export interface Line {
  description: string;
  /** A decimal number. */
  quantity: string;
  unit_amount: number;
  amount: number;
  tax_rate?: string;
  tax_amount?: number;
  sku?: string;
  type?: "physical" | "digital" | "service" | "shipping" | "discount" | "gift_card" | "surcharge";
  receipt?: { vat_code: number; payment_subject?: string; payment_mode?: string; measure?: string };
}

/** The last argument of `onAction`. */
export interface Acting {
  /**
   * Passes on the result of the provider's script, for a hook that can't return it. Resolves with the state after the response. The phase
   * `action` with a `problem` means that the details were refused and the customer may act again.
   */
  complete: (details: object) => Promise<State>;
  /** Aborted when the attempt no longer waits for this action, or the checkout is closed. */
  signal: AbortSignal;
}

/** The result of `onAction`, see there. */
export type Acted = object | true | void;

/** The functions of the browser that the client uses. A test or an unusual host may replace them. */
export interface Environment {
  fetch: typeof fetch;
  storage: Pick<Storage, "getItem" | "setItem" | "removeItem"> | null;
  locks: Pick<LockManager, "request"> | null;
  channel: ((name: string) => BroadcastChannel) | null;
  /** The target of the events `online`, `pagehide` and `pageshow`. */
  events: EventTarget | null;
  random: () => number;
  /** Takes the whole window to an address by submitting a form. */
  submit: (url: string, fields: Record<string, string>) => void;
  /** Called with each error that a hook of the page throws. */
  report: (error: unknown) => void;
}

/** Times in milliseconds. */
export interface Timing {
  /** The first pause before the page reads a failed attempt again, since its money may arrive late. The pause doubles, up to `lateCap`. */
  late: number;
  lateCap: number;
  /** The maximum of the first pause before a retry. This maximum doubles with each retry. */
  backoff: number;
  /** The maximum of all pauses that the client chooses. A server may request longer pauses. */
  backoffCap: number;
  /** The page sends a request again if it has no response after this time. */
  requestTimeout: number;
  /** The time for which the server may hold a long poll. */
  wait: number;
  /** A stream counts as not working if it sends nothing within this time after its start. */
  firstEvent: number;
  /** The page opens a stream again if it has been silent for this time. */
  silence: number;
  /**
   * After this time without a final result the page checks for another `requestTimeout`, since it may have been suspended. It then ends in
   * `unknown`.
   */
  giveUp: number;
  /** `resume` sends a pay request with a lost response again only if the customer pressed the button within this time. */
  resendWithin: number;
  /** The page does not wait for a working tab that does not respond for this time: the browser may have suspended that tab. */
  otherTab: number;
}

/** `Form` is the type of the object that the shop's backend adds as `form`. */
export interface Options<Form extends object = object> {
  orderId: string;
  /** The shop's own address that accepts the pay request and passes it on with the header Idempotency-Key. Not needed with `authorization`. */
  payUrl?: string;
  /** The address of paylatch; empty for the address of the page. */
  apiUrl?: string;
  /**
   * The shop's own address that returns an attempt of this order. The page uses it if it has no status token (another device began the
   * payment), or if the token has expired, which happens after a day. The page adds `?payment_attempt_id=…`.
   */
  statusUrl?: string;
  /**
   * The id of an attempt that the page's server knows to be pending or succeeded. The page follows it if storage has no attempt under way, if
   * the attempt in storage has failed, or if the pay request in storage is too old to be sent again. It also replaces an older failure in
   * storage.
   */
  attempt?: string;
  /**
   * The shop's own address that passes on `{details}` to paylatch's `complete`, with the header Idempotency-Key. The page posts to it with
   * `?payment_attempt_id=…`. Not needed with `authorization`, or if no attempt is ever completed.
   */
  completeUrl?: string;
  /** Returns a customer's token, for a page that calls paylatch itself. Never return the merchant's token. */
  authorization?: () => string | Promise<string>;
  /** Returns further headers for the shop's own addresses, for example against cross-site requests. */
  headers?: () => Record<string, string>;
  /** Whether requests to the shop's own addresses contain cookies; `same-origin` by default. */
  credentials?: RequestCredentials;
  /**
   * Shows the provider's own form, for a payment that the provider's script takes. Called with the object that the shop's backend has added as
   * `form` to the response to a pay request, once for each attempt on each page. After a reload the page asks the backend again, with the
   * same key. The returned function removes the form. It is called when the attempt has ended, after `onStatus`, or when the checkout is closed.
   * Do not trust the result that the form reports.
   */
  mount?: (form: Form, attempt: Attempt) => (() => void) | void;
  /**
   * Does the action that the attempt waits for, for example with the provider's script. Called once for each action on each page, in the tab
   * that does the work; `act` calls it again. It returns, or its promise resolves with:
   *
   * - details, an object: the page passes them on, see `completeUrl`.
   * - `true`: the hook handles the action, and calls `complete` or `act` if needed.
   * - nothing: the page does a `redirect` or `post_form` as without a hook. After an `sdk` action it has paylatch ask the provider.
   *
   * An error that it throws is reported to the window, and the customer may act again.
   */
  onAction?: (action: NextAction, attempt: Attempt, acting: Acting) => Acted | Promise<Acted>;
  /**
   * Returns the provider's parameters in the page's address after the customer has come back, or null without them. Called once on a page that
   * opens with a payment under way. The page completes the attempt with them once, if the attempt still waits.
   */
  returned?: () => Record<string, string> | null;
  /** Called with each change. */
  onStatus?: (state: State) => void;
  /** Takes the customer to the provider's page after a press. `false` leaves this, and the submission of forms, to the shop's page. */
  redirect?: ((url: string) => void) | false;
  /** Ends all work of the page; the payment itself continues. */
  signal?: AbortSignal;
  timing?: Partial<Timing>;
  environment?: Partial<Environment>;
}
