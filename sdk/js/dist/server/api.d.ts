export interface CreateOrder {
    /** The merchant's own id. If it is absent, paylatch makes an id. A customer must not send it. */
    order_id?: string | undefined;
    amount: Amount;
    currency: Currency;
    description?: string | undefined;
    metadata?: Metadata | undefined;
    lines?: Lines | undefined;
    customer?: Customer | undefined;
}
/** The changes. It has at least one member beside `expected_version`. Absent members stay as they are. */
export interface AmendOrder {
    amount?: Amount | undefined;
    currency?: Currency | undefined;
    description?: string | undefined;
    /** Merged into the order's metadata. An empty value removes its name. */
    metadata?: Metadata | undefined;
    /** Replace the order's lines; `[]` removes them. An order with lines needs new ones with another amount. */
    lines?: Lines | undefined;
    /** Replaces the order's customer. */
    customer?: Customer | undefined;
    /** The order's `version` as the caller has read it. If the order has another version, nothing is changed. */
    expected_version?: number | undefined;
}
export interface Pay {
    /** The configured account to pay by; the default account if absent. A customer may name only an offered account. */
    account?: string | undefined;
    payment_method: PaymentMethod;
    /**
     * Asks the provider to store the payment method for `customer.reference`. The customer must be present. The stored method becomes
     * the attempt's `saved_payment_method`.
     */
    save_payment_method?: boolean | undefined;
    /** `merchant` charges a stored payment method without the customer. Only a service may send it. */
    initiator?: "customer" | "merchant" | undefined;
    /** The text on the customer's statement, if the provider lets the merchant choose it. */
    statement_descriptor?: string | undefined;
    customer?: Customer | undefined;
    browser?: Browser | undefined;
    lines?: Lines | undefined;
    /**
     * Members of the provider's own request, if the account's kind allows them: see the manual's table of providers. Only a service
     * may send it. The amount, the currency, the reference, the idempotency key and the customer's identity are never allowed here.
     */
    provider_data?: Record<string, unknown> | undefined;
    /**
     * `manual` only authorizes the payment. The call `confirm` captures the money, once. With `manual_multiple` the hold is captured
     * in several parts, if the account's provider can: the first `confirm` pays the order, and further ones capture more. Only a
     * service may send `manual_multiple`.
     */
    capture?: "automatic" | "manual" | "manual_multiple" | undefined;
    /** The address to which the provider sends the customer back. */
    return_url?: string | undefined;
    amount?: Amount | undefined;
    currency?: Currency | undefined;
    supersedes?: Supersedes | undefined;
}
/**
 * The order's live attempt that began outside paylatch. Its customer has abandoned it. paylatch first reports it as abandoned. If the
 * provider does not cancel it, it still blocks the new attempt.
 */
export type Supersedes = string;
/** A name that the provider uses for the payment. */
export type ProviderName = string;
export interface RegisterAttempt {
    /** The configured account of the payment, of any kind; the default account if absent. */
    account?: string | undefined;
    provider_payment_id?: ProviderName | undefined;
    /** Further names that the provider's webhooks may use for the payment. */
    references?: ProviderName[] | undefined;
    amount?: Amount | undefined;
    currency?: Currency | undefined;
    /** `manual` if the provider only authorizes the payment and the call `confirm` captures the money. */
    capture?: "automatic" | "manual" | undefined;
    /** The time that the customer has to pay, in seconds. */
    expires_in?: number | undefined;
    supersedes?: Supersedes | undefined;
}
export interface ReportAttempt {
    provider_payment_id?: ProviderName | undefined;
    references?: ProviderName[] | undefined;
    /** `abandoned`: the customer left. `not_started`: the payment never reached the provider. */
    outcome?: "abandoned" | "not_started" | undefined;
    /** A text for people. It is kept with the result of the report. */
    reason?: string | undefined;
}
export interface ProviderReference {
    /** A value for the provider's field of the merchant's own reference. Null if the provider's webhooks do not return that field. */
    text: string | null;
    /** Values for the provider's metadata or custom data. Empty if the provider has no such field. */
    metadata: Record<string, string>;
}
export interface Confirm {
    amount?: Amount | undefined;
    /**
     * Of a pay with `manual_multiple`: with `true` this is the last capture, and the rest of the hold is released. Without it further
     * captures may follow. A pay with `manual` has one capture, which is the last one.
     */
    final?: boolean | undefined;
    /**
     * Members of the provider's own request for a capture, if the account's kind allows them: see the manual's table of providers.
     * Only a service may send it.
     */
    provider_data?: Record<string, unknown> | undefined;
}
export interface CreateRefund {
    amount?: Amount | undefined;
    /** A text for people, and for the provider if it accepts a reason. */
    reason?: string | undefined;
    /** The amount that the caller believes is refundable, in minor units. */
    expected_refundable?: number | undefined;
    /**
     * The provider's id of the payment to be refunded. It is needed if several payments of the attempt hold money. If the provider
     * refunds captures (PayPal) and a hold was captured in several parts, it is the id of the capture to be refunded.
     */
    provider_payment_id?: string | undefined;
    /**
     * With `true` the caller knows that a dispute of the payment is open, and refunds all the same. In the dispute the bank may give
     * the customer the same money. Without it such a refund is refused (`dispute-open`).
     */
    acknowledge_dispute?: boolean | undefined;
    /**
     * Members of the provider's own request for a refund, if the account's kind allows them: see the manual's table of providers. The
     * refund of a payment that shared its money must say here who bears it.
     */
    provider_data?: Record<string, unknown> | undefined;
}
/** An empty object. The request may also have no body. */
export type NoMembers = Record<string, never>;
export interface PaymentMethod {
    /**
     * The value that the provider's page or library gave the browser for the customer's card: a single-use token, an encrypted card,
     * or the payload of a wallet (Adyen's drop-in: its `state.data.paymentMethod` as JSON text). With `stored` it is the token of a
     * payment method that the provider keeps.
     */
    token: string;
    /** The provider's name for the type of payment method, if the provider requires a type beside a stored token. */
    type?: string | undefined;
    /**
     * `true` declares that the token belongs to a payment method that the provider keeps for the customer. Only a service may send it,
     * and only with the customer's own payment method: see `customer.reference`.
     */
    stored?: boolean | undefined;
}
/**
 * The customer. Each provider gets the members that its request has a place for. The data are kept encrypted. The customer of a pay
 * request is kept as long as its call may be sent again. The customer of an order is kept until the order is paid or cancelled. The
 * recipient of a fiscal receipt is kept until all money is refunded. No data are kept longer than a year and a month.
 */
export interface Customer {
    /** The provider's reference of the customer; the user's id if absent. Only a service may name another. */
    reference?: string | undefined;
    email?: string | undefined;
    name?: string | undefined;
    /** A telephone number in the format of E.164. */
    phone?: string | undefined;
    /** The address of the customer's browser. */
    ip?: string | undefined;
    /** The language of the provider's page, as a language tag (BCP 47). */
    locale?: string | undefined;
    billing_address?: Address | null | undefined;
    shipping_address?: Address | null | undefined;
}
export interface Address {
    line1?: string | undefined;
    line2?: string | undefined;
    city?: string | undefined;
    postal_code?: string | undefined;
    /** The usual code of a state or province. */
    state?: string | undefined;
    /** A country code of ISO 3166-1 alpha-2. */
    country: string;
}
/** The data about the customer's browser that 3-D Secure requires (EMVCo). The browser's script and request headers have them. */
export interface Browser {
    user_agent?: string | undefined;
    accept_header?: string | undefined;
    language?: string | undefined;
    color_depth?: number | undefined;
    screen_height?: number | undefined;
    screen_width?: number | undefined;
    /** The offset in minutes, as JavaScript's `getTimezoneOffset()` returns it: -60 in Berlin in winter. */
    time_zone_offset?: number | undefined;
    java_enabled?: boolean | undefined;
}
/** The purchased items. The amounts must add up to the order's amount. */
export type Lines = Line[];
export interface Line {
    description: string;
    /** A decimal number above 0, with three decimals at most. */
    quantity: string;
    /** The price of one unit, with taxes, in minor units. */
    unit_amount: number;
    /** The price of the line, with taxes and discounts, in minor units. It is below 0 for a discount or a gift card. */
    amount: number;
    /** A decimal fraction: 0.19 is 19 %. */
    tax_rate?: string | undefined;
    /** The tax that `amount` includes. */
    tax_amount?: number | undefined;
    sku?: string | undefined;
    type?: "physical" | "digital" | "service" | "shipping" | "discount" | "gift_card" | "surcharge" | undefined;
    receipt?: LineReceipt | undefined;
}
/** The data of the line for a fiscal receipt (54-FZ), by the names of format 1.05 and later. Only a service may send it. */
export interface LineReceipt {
    /** The number of the tax rate in YooKassa's numbering. */
    vat_code: number;
    payment_subject?: string | undefined;
    payment_mode?: string | undefined;
    measure?: string | undefined;
}
export interface Complete {
    /**
     * The unchanged result of the provider's page or script: the parameters of the address to which the customer returned, or the
     * script's object (Adyen's drop-in: `state.data`).
     */
    details: Record<string, unknown>;
}
/** An amount in minor units of the currency, in plain digits. */
export type Amount = number;
/** An ISO 4217 code in upper case. */
export type Currency = string;
/** The merchant's own notes, at most 50. */
export type Metadata = Record<string, string>;
export interface Order {
    order_id: string;
    user_id: string;
    amount: number;
    currency: string;
    /** It rises with each change of the order and of its payments. */
    version: number;
    status: "open" | "paid" | "cancelled";
    /**
     * The held money of all attempts: captured, and neither refunded nor charged back. If it is above 0 while the order is `open`, a
     * failed attempt was paid after all, and the shop is looking at it. A page then shows neither a failure nor "pay again". If the
     * order was amended to another currency, attempts in its former currency do not count.
     */
    amount_held: number;
    /** The captured money of the attempts that `amount_held` counts. */
    amount_captured: number;
    /** The role that set the price. If it is `customer`, the shop checks the amount before it delivers. */
    created_by: "service" | "customer";
    description: string;
    metadata: Record<string, string>;
    created_at: string;
    /** The time of the last change of the order, of an attempt of it, or of a dispute of its payment. */
    updated_at: string;
    /** The attempts, the oldest first. */
    attempts: Attempt[];
}
export interface Attempt {
    payment_attempt_id: string;
    order_id: string;
    user_id: string;
    /** The `Idempotency-Key` of the pay request. Absent if a problem shows the attempt as the attempt of another request. */
    client_request_id?: string | undefined;
    account: string;
    /** The provider's id of the acting payment: captures, cancels, refunds and lookups use this payment. Null until the provider has named it. Before the first payment it is the id of the provider's page or order. */
    provider_payment_id: string | null;
    /** All payments at the provider that belong to the attempt, in the order of their first reports. A reload of the page or a second card makes another payment. */
    payments: ProviderPayment[];
    /** The status changes at most once, and never back. */
    status: "pending" | "succeeded" | "failed";
    /** The progress of a pending attempt, for people. */
    stage: "requested" | "awaiting_customer" | "authorized" | "outcome_unknown" | "final";
    amount: number;
    currency: string;
    /** The captured amount, less undone captures. Chargebacks are not subtracted; their amount is amount_disputed. */
    amount_captured: number;
    amount_refunded: number;
    /** The amount that chargebacks took, less the amount that the provider returned. */
    amount_disputed: number;
    /** With `manual_multiple`, `amount_authorized` of a payment less its `amount_captured` is still on hold. */
    capture: "automatic" | "manual" | "manual_multiple";
    /** The party whose call began the attempt. `external`: the merchant's own call. `imported`: a call of the past. */
    origin: "paylatch" | "external" | "imported";
    /** The action that the customer must take now; null if there is none. */
    next_action: NextAction | null;
    /** The customer's payment method that the provider has stored; null if there is none. */
    saved_payment_method: SavedPaymentMethod | null;
    /**
     * The disputes that the provider names, the oldest first. A change of a dispute does not raise the version: read the attempt
     * without `If-None-Match`.
     */
    disputes: Dispute[];
    /**
     * The reason for the failure. While the attempt is `awaiting_customer`, it is the reason why the customer's last try on the
     * provider's page was declined. The customer may try again on that page. The order's next pay request first closes the page. In
     * all other cases it is null. A change of this member does not raise the version.
     */
    failure: Failure | null;
    /** `true` if a page may offer to pay again. */
    can_start_new_attempt: boolean;
    /** The milliseconds until the next request; 0 once the attempt is final. */
    next_poll_ms: number;
    /** A bearer token for a browser. It reads only this attempt. Only responses to pay requests have it. */
    status_token?: string | undefined;
    /** Values to give to the provider, so that its webhooks find the attempt. Only responses to its registration have them. */
    provider_reference?: ProviderReference | undefined;
    /** The key for the call to the provider. Only responses to its registration have it. */
    provider_idempotency_key?: string | undefined;
    /** The version rises by one with each visible change of the attempt. */
    version: number;
    created_at: string;
    updated_at: string;
    finalized_at: string | null;
    /**
     * The provider's own review of the payment, such as Stripe Radar's; null without a review. `open`: a person at the provider or the
     * shop decides there, and the money may be taken or held meanwhile. A closed review stays closed. A change raises the version.
     */
    review: "open" | "approved" | "declined";
}
export interface SavedPaymentMethod {
    /** The token for a later pay request with `stored`, for the same customer. */
    token: string;
    type: string;
    /** A text for people, such as the brand and the last four digits. */
    display: string;
    /** The last month in which the payment method is valid, as YYYY-MM; null if not known. */
    expires: string | null;
    /**
     * The time at which the provider removed the payment method; null while it can be charged. Don't offer a removed one. This and
     * the provider's changes of the other members do not raise the version: `payment_method.updated` and `payment_method.removed`
     * tell of them.
     */
    removed_at: string | null;
}
/**
 * The action that the customer must take. `redirect`: go to `url`. `post_form`: go to `url` by a form with `fields`. `sdk`: continue
 * in the provider's script with `data` (Stripe's `client_secret`, Adyen's `action`). `display`: see a voucher, a code or a QR code.
 * After `sdk`, and after a redirect whose page returns parameters, send the result to `complete`.
 */
export interface NextAction {
    type: "redirect" | "post_form" | "sdk" | "display";
    url?: string | undefined;
    /** The names and values of the form's fields. */
    fields?: Record<string, string> | undefined;
    /** The data for the provider's script or for the display. Their form depends on the account's kind. */
    data?: Record<string, unknown> | undefined;
    /** The time after which the action is too late, if the provider reports it. */
    expires_at?: string | undefined;
}
export interface Failure {
    code: FailureCode;
    /** A sentence for the customer. */
    message: string;
    /** The provider's own code. */
    provider_code: string | null;
}
/**
 * The reason of a failure. Later versions may add codes: treat a code that you don't know as provider_rejected.
 * - card_declined: The customer's bank or the provider declined the card, or its number, date or security code is wrong.
 * - insufficient_funds: The card or the bank account has not enough money, or the payment exceeds its limit.
 * - authentication_failed: The customer did not pass the bank's confirmation, such as 3-D Secure.
 * - expired: The customer did not finish the payment in time, or the hold ended before it was captured.
 * - canceled: The customer, the shop or the provider cancelled the payment before it was captured.
 * - fraud_suspected: The bank or the provider suspects fraud, or the card is reported lost or stolen.
 * - not_started: The provider was not reached, or has no payment that anybody could pay.
 * - not_paid: The provider reports no payment, or a person found that none was made.
 * - refunded: A person found that the money of a pending payment had been given back at the provider.
 * - not_covered: Only of a refund: its money was taken back another way, such as a chargeback, before the refund was sent.
 * - provider_rejected: The provider refused the request, or its reason has no code of its own.
 */
export type FailureCode = "card_declined" | "insufficient_funds" | "authentication_failed" | "expired" | "canceled" | "fraud_suspected" | "not_started" | "not_paid" | "refunded" | "not_covered" | "provider_rejected" | (string & {});
export interface Events {
    items: Event[];
    /** The cursor to continue from, with or without items. */
    next_cursor: string;
}
export interface Event {
    /** The event's id. It is the same wherever and however often the event is published. */
    id: string;
    /**
     * `payment_attempt.authorized`, `payment_attempt.succeeded`, `payment_attempt.failed`, `payment_attempt.updated`, `order.paid`,
     * `order.cancelled`, `refund.succeeded`, `refund.failed`, `dispute.opened`, `dispute.updated`, `dispute.won`, `dispute.lost`,
     * `discrepancy.opened`, `discrepancy.resolved`, `settlement.recorded`, `payout.paid`, `payout.failed`, `payment_method.updated` or
     * `payment_method.removed`. Ignore types that you don't know.
     */
    type: string;
    created_at: string;
    /** The id of the changed object. */
    subject: string;
    /** The version rises with each event of the subject. An event with a lower version than an event that you have seen is older. */
    version: number;
    /** The subject as it was then. `api/events.yaml` has the schema of each type. */
    data: Record<string, unknown>;
}
export interface Endpoints {
    items: Endpoint[];
}
export interface Endpoint {
    name: string;
    /** The host of the endpoint's address. */
    host: string;
    /** `active`, or `gone` after the endpoint responded 410. A `gone` endpoint gets no events until its address changes or events are redelivered. */
    state: string;
    /** The number of events after its cursor, of any type. */
    behind: number;
    /** The number of events that wait for another try, or for an earlier event of their subject. */
    retries: number;
    /** The number of events that paylatch has given up. */
    dead: number;
    /** The time of the oldest event that is neither delivered nor dead. */
    oldest_undelivered_at: string | null;
    last_success_at: string | null;
    last_failure_at: string | null;
    last_failure: string | null;
    /** The cell of these events, if the response has the endpoints of several cells. Each cell delivers its own events. */
    cell?: number | undefined;
}
export interface Deliveries {
    items: Delivery[];
    /** Null on the last page. */
    next_cursor: string | null;
}
export interface Delivery {
    event_id: string;
    at: string;
    /** `true` if the response was a 2xx. */
    delivered: boolean;
    /** Null if no response came. */
    status: number | null;
    took_ms: number;
    error: string | null;
}
export interface Redeliver {
    /** A cursor of the feed that the endpoint has already passed. An empty text means the oldest kept event. */
    after?: string | undefined;
    /** Ids of events that were sent to the endpoint before. */
    ids?: string[] | undefined;
}
export interface Refund {
    refund_id: string;
    payment_attempt_id: string;
    order_id: string;
    amount: number;
    currency: string;
    /** The status changes at most once, and never back. */
    status: "pending" | "succeeded" | "failed";
    /** Null if the request had no reason. */
    reason: string | null;
    failure: Failure | null;
    /** The version rises by one with each change of the refund. */
    version: number;
    /**
     * The origin of the refund. `request`: a user or staff requested it. `policy`: the account's policy for late money made it.
     * `provider`: somebody made it in the provider's own dashboard.
     */
    origin: "request" | "policy" | "provider";
    created_at: string;
    updated_at: string;
    finalized_at: string | null;
}
/** A payment at the provider. Its amounts are in the attempt's currency. */
export interface ProviderPayment {
    /** The provider's id of the payment. Empty while the provider has not named it. */
    provider_payment_id: string;
    /** The provider's id of the page, session, order or link that contains the payment; empty if there is none. */
    container: string;
    status: "open" | "processing" | "authorized" | "captured" | "failed" | "canceled";
    amount_authorized: number;
    amount_captured: number;
    amount_refunded: number;
    amount_disputed: number;
    /** The time of the last report that changed the payment. */
    seen_at: string;
}
export interface Dispute {
    dispute_id: string;
    payment_attempt_id: string;
    provider_dispute_id: string;
    /**
     * The status follows the provider, which may still change it. `warning` is an inquiry. `open` waits for evidence. `under_review`
     * has the evidence. `won`, `lost` and `accepted` (not defended) are closed.
     */
    status: "warning" | "open" | "under_review" | "won" | "lost" | "accepted";
    /** The provider's own code or word; null if the provider states none. */
    reason: string | null;
    /** The disputed amount; null if the provider does not state it. The amount that a dispute took is `amount_disputed` of the attempt. */
    amount: number | null;
    /** The currency of the amount; null without an amount. */
    currency: string | null;
    /** The end of the time for an answer to the dispute; null if the provider does not state it. */
    due_by: string | null;
    /** The time of the first report of the dispute. */
    opened_at: string;
    /** The time at which the dispute was closed. Null while it is open. */
    closed_at: string | null;
}
export interface Settlement {
    settlement_id: string;
    account: string;
    payment_attempt_id: string;
    /** The payment as the books name it. */
    provider_payment_id: string | null;
    /** The kind of the movement of money. */
    kind: "authorization" | "release" | "capture" | "capture_reversal" | "refund" | "refund_reversal" | "chargeback" | "chargeback_reversal";
    /** The amount of the movement, never negative. */
    amount: number;
    /** The provider's fee in `balance_currency`. Negative if a fee was given back; null if the books do not state it. */
    fee: number | null;
    /** The change of the account's balance in `balance_currency`. Negative if money was taken from it; null if the books do not state it. */
    net: number | null;
    /** The currency of the amount. */
    currency: string;
    /** The currency of `fee` and `net`. It differs from `currency` if the provider exchanged the money. Null without both. */
    balance_currency: string | null;
    /** The payout that has the entry; null before the payout, or if the books do not name it. */
    payout_id: string | null;
    /** The provider's time of the entry, or the time at which the entry was recorded here if the books state no time. */
    booked_at: string;
}
export interface Payout {
    payout_id: string;
    account: string;
    provider_payout_id: string;
    /**
     * The amount that the provider states. Negative if the provider took it from the bank account. Null if only entries of the books
     * name the payout. In this case `currency`, `status` and `arrives_on` are null, too.
     */
    amount: number | null;
    currency: string | null;
    /** A `paid` payout may still fail, if the bank returns the money. `canceled` is final, and so is `failed`, unless the provider sends the payout again (GoCardless). */
    status: "pending" | "in_transit" | "paid" | "failed" | "canceled";
    /** The day on which the bank has the money, as the provider states it: YYYY-MM-DD. */
    arrives_on: string | null;
    /** The number of settlements in the payout. */
    entries: number;
    /**
     * `amount` less the `net` of all settlements in the payout's currency. A `net` that is null counts as the amount less the fee. 0 if the
     * settlements explain the payout to the minor unit. Null if the provider does not state the amount. Fees of the account and payments
     * of other systems are not settlements.
     */
    unexplained: number | null;
}
export interface Reconciliation {
    reconciliation_id: string;
    account: string;
    /** The beginning of the span. */
    from: string;
    /** The end of the span. */
    to: string;
    /** The entries were read from the books by a call, or from a file. `person` means that a person compared by hand. */
    source: "books" | "file" | "person";
    /** `daily` for the service's own run, else the person. */
    started_by: string;
    /** Only a `finished` run has compared its whole span. A run that was killed becomes `failed` after 15 minutes. */
    status: "running" | "finished" | "failed";
    started_at: string;
    finished_at: string | null;
    /** The number of entries and payments that were not recorded here as in the books, or that the books do not have. */
    differences: number;
    /** The results of the entries, and of the payments without an entry. */
    counts: Record<string, number>;
    /** Why the run has no end; of a finished run, which entries could not be read. */
    failure: string | null;
    /** Why a person compared by hand. */
    reason: string | null;
}
export interface Orders {
    items: Order[];
    /** Null on the last page. */
    next_cursor: string | null;
}
export interface Attempts {
    items: Attempt[];
    /** Null on the last page. */
    next_cursor: string | null;
}
export interface Refunds {
    items: Refund[];
    /** Null on the last page. */
    next_cursor: string | null;
}
export interface Disputes {
    items: Dispute[];
    /** Null on the last page. */
    next_cursor: string | null;
}
export interface Settlements {
    items: Settlement[];
    /** Null on the last page. */
    next_cursor: string | null;
}
export interface Payouts {
    items: Payout[];
    /** Null on the last page. */
    next_cursor: string | null;
}
export interface Reconciliations {
    items: Reconciliation[];
    /** Null on the last page. */
    next_cursor: string | null;
}
export interface AttemptList {
    items: Attempt[];
    /** Always null, because the list is complete. */
    next_cursor: string | null;
}
/** A problem document of RFC 9457. */
export interface Problem {
    /** The address of the page about the code. */
    type: string;
    title: string;
    status: number;
    /** The next step. */
    detail: string;
    code: string;
    request_id: string;
    /** `true` if the same request may be sent again unchanged. */
    retryable: boolean;
    /**
     * `true` if the same intention may be sent under a new key: no request under this key was executed or is under way, and nothing
     * can be executed twice. `false` if an earlier request under this key may have been executed (its response may have been lost), or
     * if a payment of the order is done or under way. Then use the same key, or read the order.
     */
    safe_new_key: boolean;
    /** The wait in milliseconds. Present with every `Retry-After`. */
    retry_after_ms?: number | undefined;
    /** All wrong fields. */
    errors?: FieldError[] | undefined;
    attempt?: Attempt | undefined;
    /** Present with `cursor-expired` after a restore. It is a cursor of the feed to continue from. No event is missed, and some events come again. */
    restart_after?: string | undefined;
}
export interface FieldError {
    field: string;
    message: string;
}
/** The query of `listOrders`. */
export interface ListOrdersQuery {
    /** Only orders with this status. */
    status?: "open" | "paid" | "cancelled" | undefined;
    /** Only items at this account. */
    account?: string | undefined;
    /** Only items of this user. */
    user_id?: string | undefined;
    /** Only items in this currency. */
    currency?: string | undefined;
    /** Only items of this amount or more, in minor units. */
    amount_min?: number | undefined;
    /** Only items of this amount or less, in minor units. */
    amount_max?: number | undefined;
    /** Only items that were created at this time or later. */
    created_from?: string | undefined;
    /** Only items that were created before this time. */
    created_to?: string | undefined;
    /** Only items whose last change was at this time or later. */
    updated_from?: string | undefined;
    /** Only items whose last change was before this time. */
    updated_to?: string | undefined;
    /** The `next_cursor` of the previous page. */
    cursor?: string | undefined;
    /** The maximum number of items, 25 if absent. */
    limit?: number | undefined;
}
/** The query of `listAttempts`. */
export interface ListAttemptsQuery {
    /** The `Idempotency-Key` of the pay request, without quotes. Without this parameter all attempts are listed. */
    client_request_id?: string | undefined;
}
/** The query of `listPaymentAttempts`. */
export interface ListPaymentAttemptsQuery {
    /** Only attempts with this status. */
    status?: "pending" | "succeeded" | "failed" | undefined;
    /** Only attempts at this stage. */
    stage?: "requested" | "awaiting_customer" | "authorized" | "outcome_unknown" | "final" | undefined;
    /** Only items at this account. */
    account?: string | undefined;
    /** Only items of this user. */
    user_id?: string | undefined;
    /** Only items in this currency. */
    currency?: string | undefined;
    /** Only items of this amount or more, in minor units. */
    amount_min?: number | undefined;
    /** Only items of this amount or less, in minor units. */
    amount_max?: number | undefined;
    /** Only items that were created at this time or later. */
    created_from?: string | undefined;
    /** Only items that were created before this time. */
    created_to?: string | undefined;
    /** Only items whose last change was at this time or later. */
    updated_from?: string | undefined;
    /** Only items whose last change was before this time. */
    updated_to?: string | undefined;
    /** The `next_cursor` of the previous page. */
    cursor?: string | undefined;
    /** The maximum number of items, 25 if absent. */
    limit?: number | undefined;
}
/** The query of `readAttempt`. */
export interface ReadAttemptQuery {
    /** The response may wait this many seconds, with `If-None-Match`. A value above 60 counts as 60. */
    wait?: string | undefined;
}
/** The query of `listRefunds`. */
export interface ListRefundsQuery {
    /** Only refunds with this status. */
    status?: "pending" | "succeeded" | "failed" | undefined;
    /** Only items at this account. */
    account?: string | undefined;
    /** Only items of this user. */
    user_id?: string | undefined;
    /** Only items in this currency. */
    currency?: string | undefined;
    /** Only items of this amount or more, in minor units. */
    amount_min?: number | undefined;
    /** Only items of this amount or less, in minor units. */
    amount_max?: number | undefined;
    /** Only items that were created at this time or later. */
    created_from?: string | undefined;
    /** Only items that were created before this time. */
    created_to?: string | undefined;
    /** Only items whose last change was at this time or later. */
    updated_from?: string | undefined;
    /** Only items whose last change was before this time. */
    updated_to?: string | undefined;
    /** The `next_cursor` of the previous page. */
    cursor?: string | undefined;
    /** The maximum number of items, 25 if absent. */
    limit?: number | undefined;
}
/** The query of `listDisputes`. */
export interface ListDisputesQuery {
    /** Only disputes with this status. */
    status?: "warning" | "open" | "under_review" | "won" | "lost" | "accepted" | undefined;
    /** Only items at this account. */
    account?: string | undefined;
    /** Only items of this user. */
    user_id?: string | undefined;
    /** Only items in this currency. */
    currency?: string | undefined;
    /** Only items of this amount or more, in minor units. */
    amount_min?: number | undefined;
    /** Only items of this amount or less, in minor units. */
    amount_max?: number | undefined;
    /** Only items that were created at this time or later. */
    created_from?: string | undefined;
    /** Only items that were created before this time. */
    created_to?: string | undefined;
    /** Only items whose last change was at this time or later. */
    updated_from?: string | undefined;
    /** Only items whose last change was before this time. */
    updated_to?: string | undefined;
    /** The `next_cursor` of the previous page. */
    cursor?: string | undefined;
    /** The maximum number of items, 25 if absent. */
    limit?: number | undefined;
}
/** The query of `listSettlements`. */
export interface ListSettlementsQuery {
    /** Only items at this account. */
    account?: string | undefined;
    /** Only settlements in this payout. */
    payout_id?: string | undefined;
    /** Only settlements of this attempt. */
    payment_attempt_id?: string | undefined;
    /** Only settlements of movements of this kind. */
    kind?: "authorization" | "release" | "capture" | "capture_reversal" | "refund" | "refund_reversal" | "chargeback" | "chargeback_reversal" | undefined;
    /** Only items in this currency. */
    currency?: string | undefined;
    /** Only items of this amount or more, in minor units. */
    amount_min?: number | undefined;
    /** Only items of this amount or less, in minor units. */
    amount_max?: number | undefined;
    /** Only items that were created at this time or later. */
    created_from?: string | undefined;
    /** Only items that were created before this time. */
    created_to?: string | undefined;
    /** The `next_cursor` of the previous page. */
    cursor?: string | undefined;
    /** The maximum number of items, 25 if absent. */
    limit?: number | undefined;
}
/** The query of `listPayouts`. */
export interface ListPayoutsQuery {
    /** Only payouts with this status. */
    status?: "pending" | "in_transit" | "paid" | "failed" | "canceled" | undefined;
    /** Only items at this account. */
    account?: string | undefined;
    /** Only items in this currency. */
    currency?: string | undefined;
    /** Only items of this amount or more, in minor units. */
    amount_min?: number | undefined;
    /** Only items of this amount or less, in minor units. */
    amount_max?: number | undefined;
    /** Only items that were created at this time or later. */
    created_from?: string | undefined;
    /** Only items that were created before this time. */
    created_to?: string | undefined;
    /** Only items whose last change was at this time or later. */
    updated_from?: string | undefined;
    /** Only items whose last change was before this time. */
    updated_to?: string | undefined;
    /** The `next_cursor` of the previous page. */
    cursor?: string | undefined;
    /** The maximum number of items, 25 if absent. */
    limit?: number | undefined;
}
/** The query of `listReconciliations`. */
export interface ListReconciliationsQuery {
    /** Only runs with this status. */
    status?: "running" | "finished" | "failed" | undefined;
    /** Only items at this account. */
    account?: string | undefined;
    /** Only items that were created at this time or later. */
    created_from?: string | undefined;
    /** Only items that were created before this time. */
    created_to?: string | undefined;
    /** Only items whose last change was at this time or later. */
    updated_from?: string | undefined;
    /** Only items whose last change was before this time. */
    updated_to?: string | undefined;
    /** The `next_cursor` of the previous page. */
    cursor?: string | undefined;
    /** The maximum number of items, 25 if absent. */
    limit?: number | undefined;
}
/** The query of `readEvents`. */
export interface ReadEventsQuery {
    /** The `next_cursor` of the previous page. Without it the page begins with the oldest kept event. `now` begins after the newest event. */
    after?: string | undefined;
    /**
     * The number of a cell, if one service has several databases. A service with one database ignores it. Without `cell` a read covers all
     * cells, and a call that names an id acts in its cell. A call that acts on all items of a filter, lists deliveries, or sends all events
     * after a cursor again, acts in one cell. Such a call needs `cell` if there are several; without it the response is 422.
     */
    cell?: string | undefined;
    /** Only events of these types, separated by commas. */
    type?: string | undefined;
    /** The maximum number of items, 100 if absent. */
    limit?: number | undefined;
    /** The response waits this many seconds for new events. A value above 60 counts as 60. */
    wait?: number | undefined;
}
/** The query of `listEndpoints`. */
export interface ListEndpointsQuery {
    /**
     * The number of a cell, if one service has several databases. A service with one database ignores it. Without `cell` a read covers all
     * cells, and a call that names an id acts in its cell. A call that acts on all items of a filter, lists deliveries, or sends all events
     * after a cursor again, acts in one cell. Such a call needs `cell` if there are several; without it the response is 422.
     */
    cell?: string | undefined;
}
/** The query of `listDeliveries`. */
export interface ListDeliveriesQuery {
    /** With `true` the list has only failed attempts. */
    failed?: "true" | "false" | undefined;
    /** The `next_cursor` of the previous page. */
    cursor?: string | undefined;
    /** The maximum number of items, 25 if absent. */
    limit?: number | undefined;
    /**
     * The number of a cell, if one service has several databases. A service with one database ignores it. Without `cell` a read covers all
     * cells, and a call that names an id acts in its cell. A call that acts on all items of a filter, lists deliveries, or sends all events
     * after a cursor again, acts in one cell. Such a call needs `cell` if there are several; without it the response is 422.
     */
    cell?: string | undefined;
}
/** The query of `testEndpoint`. */
export interface TestEndpointQuery {
    /**
     * The number of a cell, if one service has several databases. A service with one database ignores it. Without `cell` a read covers all
     * cells, and a call that names an id acts in its cell. A call that acts on all items of a filter, lists deliveries, or sends all events
     * after a cursor again, acts in one cell. Such a call needs `cell` if there are several; without it the response is 422.
     */
    cell?: string | undefined;
}
/** The query of `redeliver`. */
export interface RedeliverQuery {
    /**
     * The number of a cell, if one service has several databases. A service with one database ignores it. Without `cell` a read covers all
     * cells, and a call that names an id acts in its cell. A call that acts on all items of a filter, lists deliveries, or sends all events
     * after a cursor again, acts in one cell. Such a call needs `cell` if there are several; without it the response is 422.
     */
    cell?: string | undefined;
}
/** The members of a pay request that a page may set, by their paths. The backend decides the others. */
export declare const setByPages: readonly string[];
