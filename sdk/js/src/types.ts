/** A payment attempt, as the API shows it. Amounts are in minor units of the currency, times are RFC 3339. */
export interface Attempt {
  payment_attempt_id: string;
  order_id: string;
  user_id: string;
  /** The pay's `Idempotency-Key`; absent where the attempt is shown as the one in the way. */
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
  /** `external`: the shop called the provider; `imported`: of the past. */
  origin: "paylatch" | "external" | "imported";
  /** What the customer must do now; null if nothing. */
  next_action: NextAction | null;
  /** What the provider has stored of the customer's payment method; null if nothing. */
  saved_payment_method: SavedPaymentMethod | null;
  disputes: Dispute[];
  /** Why it failed, or why the last try on the provider's page was declined, while the customer may try again there. */
  failure: Failure | null;
  /** Whether the order takes another pay. It may change with another attempt. */
  can_start_new_attempt: boolean;
  next_poll_ms: number;
  version: number;
  created_at: string;
  updated_at: string;
  finalized_at: string | null;
}

/** One payment at the provider. Its amounts are in the attempt's currency. */
export interface ProviderPayment {
  /** Empty while the provider has not named it. */
  provider_payment_id: string;
  /** The provider's id of the page, session or order in which it was made; empty without one. */
  container: string;
  status: "open" | "processing" | "authorized" | "captured" | "failed" | "canceled";
  amount_authorized: number;
  amount_captured: number;
  amount_refunded: number;
  amount_disputed: number;
  /** When a report last changed it. */
  seen_at: string;
}

/** What an attempt that is `awaiting_customer` waits for. A later version of paylatch may have further types. */
export type NextAction = RedirectAction | PostFormAction | SdkAction | DisplayAction;

/** The customer goes to the page at `url`. */
export interface RedirectAction {
  type: "redirect";
  url: string;
  /** When it is too late, where the provider says so. */
  expires_at?: string;
}

/** The customer is taken to `url` by a form with these fields. */
export interface PostFormAction {
  type: "post_form";
  url: string;
  fields: Record<string, string>;
  expires_at?: string;
}

/** The provider's script goes on, with `data`: its members are those of the account's kind, such as Stripe's `client_secret`. */
export interface SdkAction {
  type: "sdk";
  data: object;
  expires_at?: string;
}

/** The customer is shown a voucher, a code or a QR code: `data`, by the account's kind, and the provider's page with it, where there is one. */
export interface DisplayAction {
  type: "display";
  data: object;
  url?: string;
  expires_at?: string;
}

export interface SavedPaymentMethod {
  /** What a later pay names with `stored`, for the same customer. */
  token: string;
  type: string;
  /** For people, such as the brand and the last four digits. */
  display: string;
  /** The month until which it is good, as YYYY-MM; null if not known. */
  expires: string | null;
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
  /** `card_declined`, `insufficient_funds`, `authentication_failed` and others; more may come. */
  code: string;
  /** A sentence for the customer. */
  message: string;
  provider_code: string | null;
}

/** An RFC 9457 problem of the API, or what was made of an answer that is none: that one has no more than the first three members. */
export interface Problem {
  status: number;
  code: string;
  retryable: boolean;
  type?: string;
  title?: string;
  detail?: string;
  request_id?: string;
  retry_after_ms?: number;
  errors?: { field: string; message: string }[];
  attempt?: Attempt;
}

/**
 * Where a payment stands.
 *
 * - `idle`: nothing was pressed yet, or what was pressed has failed and nobody tells this page whether the order takes another pay, or nobody
 *   tells of it any more.
 * - `sending`: the pay is on its way for the first time.
 * - `checking`: it is being found out what became of it.
 * - `form`: the provider's own form is on the page, see `mount`, and the customer has not finished there as far as paylatch knows.
 * - `action`: the customer must do what `attempt.next_action` says.
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
  /** In `action`: whether `act()` does the action now. It is false while that is under way, and where the page does it by itself. */
  canAct: boolean;
  /** Nobody answers at the moment; it is being tried again. */
  offline: boolean;
  /** Another tab of this browser does the work; this one shows it. */
  elsewhere: boolean;
  attempt: Attempt | null;
  problem: Problem | null;
}

/**
 * What is sent to pay: the members of the API. A shop's backend may take others; then give `createCheckout` their type. Some are the backend's
 * alone to add, such as `payment_method.stored`.
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

/** What 3-D Secure asks about the browser. */
export interface BrowserInfo {
  user_agent?: string;
  accept_header?: string;
  language?: string;
  color_depth?: number;
  screen_height?: number;
  screen_width?: number;
  /** As `getTimezoneOffset()` has it. */
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

/** What `onAction` gets beside the action. */
export interface Acting {
  /**
   * Passes on what the provider's script returned, for a hook that can't return it. Resolves with the state once that was answered: `action`
   * with a `problem` says that the details were refused, and that the customer may act again.
   */
  complete: (details: object) => Promise<State>;
  /** Is aborted when the attempt waits for this action no longer, or the checkout is closed. */
  signal: AbortSignal;
}

/** What `onAction` returns, see there. */
export type Acted = object | true | void;

/** What the browser is asked for; a test or an unusual host brings its own. */
export interface Environment {
  fetch: typeof fetch;
  storage: Pick<Storage, "getItem" | "setItem" | "removeItem"> | null;
  locks: Pick<LockManager, "request"> | null;
  channel: ((name: string) => BroadcastChannel) | null;
  /** Where `online`, `pagehide` and `pageshow` happen. */
  events: EventTarget | null;
  random: () => number;
  /** Takes the customer to an address by a form, the whole window. */
  submit: (url: string, fields: Record<string, string>) => void;
  /** Is told of what a hook of the page throws. */
  report: (error: unknown) => void;
}

/** Times in milliseconds. */
export interface Timing {
  /** The first pause before a failed attempt is read again, since its money may arrive late; it doubles, up to `lateCap`. */
  late: number;
  lateCap: number;
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

/** `Form` is the type of what the shop's backend adds as `form`. */
export interface Options<Form extends object = object> {
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
  /**
   * The shop's own address that passes on `{details}` to paylatch's `complete`, with the header Idempotency-Key. It is posted to with
   * `?payment_attempt_id=…`. Not needed with `authorization`, nor where nothing is ever completed.
   */
  completeUrl?: string;
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
  mount?: (form: Form, attempt: Attempt) => (() => void) | void;
  /**
   * Does what the attempt waits for, by the provider's script for example. Is called once for each action on each page, in the tab that does
   * the work; again by `act`. What it returns, or its promise resolves with:
   *
   * - details, an object: they are passed on, see `completeUrl`.
   * - `true`: the page has the action in hand, and calls `complete` or `act` if it must.
   * - nothing: a `redirect` and a `post_form` are done as without a hook; after others paylatch has the provider asked.
   *
   * What it throws is reported to the window, and the customer may act again.
   */
  onAction?: (action: NextAction, attempt: Attempt, acting: Acting) => Acted | Promise<Acted>;
  /**
   * What the customer has come back with: the parameters of the page's address that are the provider's, or null without them. Is called once on
   * a page that opens with a payment under way; the attempt is completed with them if it still waits, once.
   */
  returned?: () => Record<string, string> | null;
  /** Is called with each change. */
  onStatus?: (state: State) => void;
  /** Takes the customer to the provider's page after a press; `false` leaves that, and the submission of forms, to the page. */
  redirect?: ((url: string) => void) | false;
  /** Ends all work; the payment itself goes on. */
  signal?: AbortSignal;
  timing?: Partial<Timing>;
  environment?: Partial<Environment>;
}
