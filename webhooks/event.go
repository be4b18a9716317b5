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
	// URL is the address under which the provider knows this endpoint; a few
	// schemes sign it. A query string of the request is part of it.
	URL string
	// Topic is the last segment of the path for providers that use one URL for
	// each kind of notice (CloudPayments), else empty.
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

// Kind is what an event says, in terms that all providers share.
type Kind string

// The kinds of news. A kind says nothing about whether the news is new: that is
// decided against what is already known.
const (
	// KindIgnored is not about a payment, or of a type that this version does
	// not know; the provider's name of it is kept in [Event.Type].
	KindIgnored Kind = "ignored"
	// KindNotice names an object and nothing else; see [Event.NeedsFetch].
	KindNotice Kind = "notice"
	// KindQuestion asks whether a payment may be taken; nothing has happened yet.
	// See [Answerer].
	KindQuestion Kind = "question"

	// KindProcessing says that the provider has the payment and has not decided.
	KindProcessing Kind = "processing"
	// KindActionRequired says that the customer must act (a redirect, 3-D Secure).
	KindActionRequired Kind = "action_required"
	// KindAuthorized says that the money is held and waits for a capture.
	KindAuthorized Kind = "authorized"
	// KindSucceeded says that the money was taken.
	KindSucceeded Kind = "succeeded"
	// KindFailed says that the payment is over without money taken, for good.
	KindFailed Kind = "failed"
	// KindSoftFailed says that one try failed but this same payment may still
	// succeed at the provider: the customer may try again (Stripe's
	// payment_intent.payment_failed), or a capture was declined and the hold stands.
	KindSoftFailed Kind = "soft_failed"
	// KindReversed says that a capture was undone: money which had been taken is gone again.
	KindReversed Kind = "reversed"
	// KindDisputed says that the cardholder disputes the payment. No money has moved for
	// it, or its own events say so.
	KindDisputed Kind = "disputed"
	// KindChargeback says that a dispute took money from the merchant, which may still
	// come back.
	KindChargeback Kind = "chargeback"
	// KindChargebackReversed says that money which a chargeback took came back.
	KindChargebackReversed Kind = "chargeback_reversed"

	// KindRefundPending says that a refund exists and is under way.
	KindRefundPending Kind = "refund_pending"
	// KindRefundSucceeded says that money was paid back.
	KindRefundSucceeded Kind = "refund_succeeded"
	// KindRefundFailed says that a refund failed, even after it had succeeded.
	KindRefundFailed Kind = "refund_failed"
)

// IDSource says where an event's id comes from.
type IDSource string

const (
	// Native ids are the provider's own.
	Native IDSource = "native"
	// Derived ids are made from the fields that identify the news, because the
	// provider sends none; never from the whole body, which a retry may change.
	Derived IDSource = "derived"
)

// Money is an amount in the minor units of ISO 4217 (1999 EUR = 19.99 €,
// whatever exponent the provider itself uses for the currency). It is never
// negative. Currency is upper-case; where it is not one of ISO 4217, which no
// order has, Minor is the provider's own number.
type Money struct {
	Minor    int64  `json:"minor"`
	Currency string `json:"currency"`
}

// Event is one verified piece of news. The zero value is not an event.
type Event struct {
	// ID identifies the news; the same news sent again has the same ID. It is
	// unique only within one account of one provider.
	ID       string   `json:"id,omitzero"`
	IDSource IDSource `json:"id_source,omitzero"`
	// Type is the provider's own name of the event.
	Type string `json:"type,omitzero"`
	Kind Kind   `json:"kind,omitzero"`

	// References are the names by which the payment may be known, the most exact
	// first: the merchant's own id of the attempt, then the provider's (payment,
	// charge, session), then what the merchant calls something larger (a cart).
	// Any may match. Empty where the event names nothing: it can't be matched,
	// but what it says stays true.
	References []string `json:"references,omitzero"`
	// ProviderPaymentID is the provider's id of the payment, if the event has it.
	ProviderPaymentID string `json:"provider_payment_id,omitzero"`
	// Transaction is the provider's id of the one transaction that the event speaks of,
	// where a payment may have several, each of which may take money: tries on one page.
	// Empty where a payment has but one.
	Transaction string `json:"transaction,omitzero"`
	// MovementID is the provider's id of the one movement of money that a KindReversed,
	// KindChargeback or KindChargebackReversed speaks of: of one kind, two ids are two
	// movements, and the same id is the same one, whichever event tells of it. Empty where
	// the provider names none: Money is then all that was so moved until now.
	MovementID string `json:"movement_id,omitzero"`
	// RefundID is the provider's id of the refund that the event is about.
	RefundID string `json:"refund_id,omitzero"`
	// RefundReference is the merchant's own id of that refund, if it is carried.
	RefundReference string `json:"refund_reference,omitzero"`

	// CaptureRefused says that the provider does not carry out a capture that it had
	// taken. Kind says what that means where nobody here asked for one.
	CaptureRefused bool `json:"capture_refused,omitzero"`
	// CancelRefused says the same of a cancellation. Kind is then [KindProcessing]: how
	// the payment stands the provider does not say.
	CancelRefused bool `json:"cancel_refused,omitzero"`
	// Approved says that the customer has agreed to a payment which the merchant
	// has yet to ask the provider for: no money is taken or held by itself.
	Approved bool `json:"approved,omitzero"`
	// Money is what the event speaks of: authorised, taken or paid back. Nil
	// where the provider does not say.
	Money *Money `json:"money,omitzero"`
	// Amount is what the event speaks of in major units, as the provider wrote it,
	// where it names no currency: that of the payment is meant. [Event.MoneyIn] reads
	// it. Money is then nil, or in the currency that the configuration says.
	Amount string `json:"amount,omitzero"`
	// Cumulative says that Money is the total so far, not one movement.
	Cumulative bool `json:"cumulative,omitzero"`
	// FailureCode is set where Kind is a failure, and is one of paylatch's codes:
	// card_declined, insufficient_funds, authentication_failed, expired, canceled,
	// fraud_suspected, provider_rejected. ProviderCode is the provider's own.
	FailureCode  string `json:"failure_code,omitzero"`
	ProviderCode string `json:"provider_code,omitzero"`

	// OccurredAt is the provider's time of the news; zero if it gives none.
	OccurredAt time.Time `json:"occurred_at,omitzero"`
	// Test says that no real money is meant; TestKnown, that the event says so
	// at all.
	Test      bool `json:"test,omitzero"`
	TestKnown bool `json:"test_known,omitzero"`
	// NeedsFetch says that the event names an object whose state must be asked
	// for at the provider, and that only the answer counts. Where nothing in the
	// body identifies the news, or nobody signed it, each arrival has an ID of its
	// own: whether it is a repeat is told by what the fetch finds.
	NeedsFetch bool `json:"needs_fetch,omitzero"`
	// DeliveryID is the provider's id of the one delivery that brought the event, where
	// its signature covers the id and of the body only a checksum: another body is easily
	// made for the same signature. The receiver must take no other body for the id, and
	// the names in the event for hints, as those of one that nobody signed.
	DeliveryID string `json:"delivery_id,omitzero"`
	// SecretIndex tells which of the configured secrets matched, -1 if none was
	// needed: a secret that no longer matches anything can be retired.
	SecretIndex int `json:"secret_index,omitzero"`
}
