package webhooks

import (
	"net/http"
	"net/netip"
	"time"
)

// Delivery is one HTTP request as it arrived.
type Delivery struct {
	// Method is the request's; a few providers put a GET's fields into the URL.
	Method string
	// URL is the address under which the provider has this endpoint; a few schemes sign it. A query string of the
	// request is part of it.
	URL string
	// Topic is the last segment of the path for providers that use one URL for each kind of notice (CloudPayments),
	// else empty.
	Topic string
	// Header holds the request's headers. The case of their names does not matter.
	Header http.Header
	// Body holds the raw bytes; a byte changed on the way breaks the signature.
	Body []byte
	// RemoteAddr is the peer, already freed of trusted proxies.
	RemoteAddr netip.Addr
	// ReceivedAt is the clock against which the age of a signature is measured.
	ReceivedAt time.Time
}

// Kind is the meaning of an event, in terms that all providers share.
type Kind string

// The kinds of events. Whether an event is a repeat is decided by the receiver.
const (
	// KindIgnored is not about a payment, or of an unfamiliar type; the provider's name of it is kept in [Event.Type].
	KindIgnored Kind = "ignored"
	// KindNotice names an object and nothing else; see [Event.NeedsFetch].
	KindNotice Kind = "notice"
	// KindQuestion is about a payment that waits for the merchant's decision; nothing has happened yet. See [Answerer].
	KindQuestion Kind = "question"
	// KindUnreadable is a genuine event in a form that this version can't read; [Event.Unreadable] has the reason. Its
	// meaning is open: it names no payment and has no amount.
	KindUnreadable Kind = "unreadable"

	// KindProcessing means that the provider has the payment and has not decided.
	KindProcessing Kind = "processing"
	// KindActionRequired means that the customer must act (a redirect, 3-D Secure).
	KindActionRequired Kind = "action_required"
	// KindAuthorized means that the money is on hold and waits for a capture.
	KindAuthorized Kind = "authorized"
	// KindSucceeded means that the money was captured.
	KindSucceeded Kind = "succeeded"
	// KindFailed means that the payment is over without a capture, for good.
	KindFailed Kind = "failed"
	// KindUndone means that the payment is over, for good, and that no money of it is the merchant's: if it was captured
	// before, the capture was undone, else it has failed.
	KindUndone Kind = "undone"
	// KindSoftFailed means that one try failed but this same payment may still succeed at the provider: the customer
	// may try again (Stripe's payment_intent.payment_failed), or a capture was declined and the hold stands.
	KindSoftFailed Kind = "soft_failed"
	// KindReversed means that a capture was undone.
	KindReversed Kind = "reversed"
	// KindDisputed means that the cardholder disputes the payment. It moves no money: where a dispute does, that is an
	// event of its own.
	KindDisputed Kind = "disputed"
	// KindDisputeClosed means that a dispute is over, as [Event.Dispute] has it, and that no money moves with that.
	KindDisputeClosed Kind = "dispute_closed"
	// KindChargeback means that a dispute took money from the merchant, which may still come back.
	KindChargeback Kind = "chargeback"
	// KindChargebackReversed means that money which a chargeback took came back.
	KindChargebackReversed Kind = "chargeback_reversed"

	// KindRefundPending means that a refund exists and is under way.
	KindRefundPending Kind = "refund_pending"
	// KindRefundSucceeded means that money was refunded.
	KindRefundSucceeded Kind = "refund_succeeded"
	// KindRefundFailed means that a refund failed, even after it had succeeded.
	KindRefundFailed Kind = "refund_failed"

	// KindReview is about the provider's review of a payment, see [Event.Review]; it moves no money.
	KindReview Kind = "review"
	// KindMethodUpdated means that the details of a stored payment method changed, such as a card's expiry; see
	// [Event.Method].
	KindMethodUpdated Kind = "method_updated"
	// KindMethodRemoved means that a stored payment method can't be charged any more, for good.
	KindMethodRemoved Kind = "method_removed"
)

// IDSource is where an event's id comes from.
type IDSource string

const (
	// Native ids are the provider's own.
	Native IDSource = "native"
	// Derived ids are made from the fields that identify the event, because the provider sends none. The whole
	// body is used only for an event of [KindUnreadable], because a retry may change a body.
	Derived IDSource = "derived"
)

// Command is a request of the merchant to a provider that accepts first and executes later.
type Command string

// The commands that an event may refuse, see [Event.Refuses].
const (
	// CommandCapture captures money that is on hold.
	CommandCapture Command = "capture"
	// CommandCancel releases money that is on hold, or ends a payment before it holds any.
	CommandCancel Command = "cancel"
)

// Mode is whether an event is about real money.
type Mode string

const (
	// ModeTest events are of the provider's test environment: no real money is meant.
	ModeTest Mode = "test"
	// ModeLive events are about real money.
	ModeLive Mode = "live"
)

// Event is one verified event. The zero value is not an event.
type Event struct {
	// ID identifies the event; the same event sent again has the same ID. It is unique only within one account of one
	// provider.
	ID       string   `json:"id,omitzero"`
	IDSource IDSource `json:"id_source,omitzero"`
	// Type is the provider's own name of the event.
	Type string `json:"type,omitzero"`
	Kind Kind   `json:"kind,omitzero"`

	// References are the names that the payment may have, the most exact first: the merchant's own id of the attempt,
	// then the provider's (payment, charge, session), then the merchant's name of something larger (a cart). Any may
	// match. Empty where the event names nothing: it can't be matched, but is true all the same.
	References []string `json:"references,omitzero"`
	// ProviderPaymentID is the provider's id of the payment: of the one thing that can take the customer's money. The same
	// payment has the same id in every event, response and lookup; two payments never share one. Empty where the event
	// names only a Container, or only the merchant's own id.
	ProviderPaymentID string `json:"provider_payment_id,omitzero"`
	// Container is the provider's id of the page, session, order or link in which the payment was made. A container takes
	// no money, and may have several payments. Empty where the provider has none, and where the event does not name it.
	Container string `json:"container,omitzero"`
	// Payee is the provider's id of the account that is paid (a merchant, a location, a connected account), as the event
	// states it. Empty where the provider does not state it: the secret of the signature is then that account's own.
	Payee string `json:"payee,omitzero"`
	// BrowserMark is set where a browser could have written the merchant's id of the attempt among References, with nothing
	// but public keys: the id is then a claim, and no proof that the payment belongs to that attempt.
	BrowserMark bool `json:"browser_mark,omitzero"`
	// MovementID is the provider's id of the money movement of a KindReversed, KindChargeback or
	// KindChargebackReversed: of one kind, two ids are two movements, and the same id is the same one, in whichever
	// event. Empty where the provider names none: Money is then all that was so moved until now.
	//
	// Of a KindSucceeded, and of a refused capture, it is the id of one capture: Money is that capture's, and a hold may
	// have several.
	//
	// A dispute may take money more than once. Where it is the id of the dispute, or of the payment, the provider has
	// none for the entry: the event means that the money was taken, or had come back, at OccurredAt, by whichever event
	// that happened.
	MovementID string `json:"movement_id,omitzero"`
	// CaptureReference is the merchant's own id of the capture that MovementID names, if it is carried.
	CaptureReference string `json:"capture_reference,omitzero"`
	// Dispute is the dispute that the event is about. Nil where it is about none, and where the provider has no id for it.
	Dispute *Dispute `json:"dispute,omitzero"`
	// Review is the provider's review of the payment. Nil where the event states none.
	Review *Review `json:"review,omitzero"`
	// Method is the stored payment method that the event is about; nil in all events of another kind.
	Method *Method `json:"method,omitzero"`
	// RefundID is the provider's id of the refund that the event is about.
	RefundID string `json:"refund_id,omitzero"`
	// RefundReference is the merchant's own id of that refund, if it is carried.
	RefundReference string `json:"refund_reference,omitzero"`

	// Refuses is the command that the provider had accepted and does not carry out; empty in all other events. For a
	// capture, Kind is the meaning of the refusal where no capture was requested here. For a cancellation, Kind is
	// [KindProcessing]: the event leaves the payment's status open.
	Refuses Command `json:"refuses,omitzero"`
	// PageOpen is set on a declined try (KindSoftFailed, or KindFailed where each try is a payment of its own) if the
	// provider's page or script lets the customer try again. If the payment is on such a page, the page is still open,
	// and nothing need be done. A try without a page (by a stored card) has no open page. Each kind's documentation has
	// the source.
	PageOpen bool `json:"page_open,omitzero"`
	// Listed is set on an event that was read from the provider's own list, and not delivered: all that it contains is
	// the provider's.
	Listed bool `json:"listed,omitzero"`
	// Approved is set where the customer has agreed to a payment which the merchant has yet to request from the
	// provider: no money is captured or on hold by itself.
	Approved bool `json:"approved,omitzero"`
	// Money is authorised, captured or refunded, as Kind has it. Nil where the event has no amount.
	Money *Money `json:"money,omitzero"`
	// Amount is in major units, as the provider wrote it, where the event names no currency: that of the payment is
	// meant. [Event.MoneyIn] reads it. Money is then nil, or in the configured currency.
	Amount string `json:"amount,omitzero"`
	// Cumulative is set where Money is the total so far, not one movement.
	Cumulative bool `json:"cumulative,omitzero"`
	// FailureCode is set where Kind is a failure, and is one of the codes in failure.go. ProviderCode is the provider's own.
	FailureCode  FailureCode `json:"failure_code,omitzero"`
	ProviderCode string      `json:"provider_code,omitzero"`

	// OccurredAt is the provider's time of the event; zero if it gives none.
	OccurredAt time.Time `json:"occurred_at,omitzero"`
	// Mode is test or live as the delivery has it: in a field of the body, which not every scheme signs, at PayPal in
	// the certificate, at T-Bank in the key of the terminal. Empty where the delivery leaves it open.
	Mode Mode `json:"mode,omitzero"`
	// NeedsFetch is set where the event names an object and only the object's state at the provider counts. Where
	// nothing in the body identifies the event, or it is unsigned, each arrival has an ID of its own: the fetch finds
	// out whether it is a repeat.
	NeedsFetch bool `json:"needs_fetch,omitzero"`
	// DeliveryID is the provider's id of the delivery that brought the event. It is set if the signature covers the id
	// but only a checksum of the body: another body is easily made for the same signature. The receiver must accept no
	// other body for the id, and take the names in the event as hints, like the names of an unsigned event.
	DeliveryID string `json:"delivery_id,omitzero"`
	// Unreadable is why an event of [KindUnreadable] can't be read; empty in all others.
	Unreadable string `json:"unreadable,omitzero"`
	// Place is the place of an unreadable event in its delivery, by which [Reader] finds it again.
	Place int `json:"place,omitzero"`
	// SecretIndex is the place of the configured secret that matched, -1 if none was needed: a secret that no longer
	// matches anything can be retired.
	SecretIndex int `json:"secret_index,omitzero"`
}
