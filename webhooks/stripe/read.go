package stripe

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// exponents names the currencies with other digits at Stripe than in ISO 4217 (https://docs.stripe.com/currencies,
// "Zero-decimal currencies" and "Special cases"): the ariary has none there, and amounts of the króna and the Ugandan
// shilling are still written with two that are always zero.
var exponents = map[string]int{"ISK": 2, "MGA": 0, "UGX": 2}

// rawEvent is the envelope (https://docs.stripe.com/api/events/object).
type rawEvent struct {
	ID       read.Note       `json:"id"`
	Type     read.Note       `json:"type"`
	Version  read.Note       `json:"api_version"`
	Created  json.RawMessage `json:"created"`
	Livemode read.Word       `json:"livemode"`
	// Account is the connected account of the event, absent from those of the endpoint's own account.
	Account read.Note       `json:"account"`
	Data    json.RawMessage `json:"data"`
}

// objectData holds the fields read from a payment intent, charge, refund, dispute or Checkout session. Each has some of
// the fields.
type objectData struct {
	// version is that of the API in which the object is written.
	version string

	ID       string    `json:"id"`
	Object   string    `json:"object"`
	Status   read.Word `json:"status"`
	Currency read.Word `json:"currency"`
	Metadata metadata  `json:"metadata"`

	Amount           *read.Integer `json:"amount"`
	AmountCapturable *read.Integer `json:"amount_capturable"`
	AmountCaptured   *read.Integer `json:"amount_captured"`
	AmountReceived   *read.Integer `json:"amount_received"`
	AmountRefunded   *read.Integer `json:"amount_refunded"`
	AmountTotal      *read.Integer `json:"amount_total"`
	Captured         read.Word     `json:"captured"`

	PaymentIntent     ref       `json:"payment_intent"`
	Charge            ref       `json:"charge"`
	LatestCharge      ref       `json:"latest_charge"`
	ClientReferenceID read.Note `json:"client_reference_id"`
	PaymentStatus     read.Word `json:"payment_status"`
	Reason            read.Note `json:"reason"`
	// Review is of a payment intent or a charge. Open and ClosedReason are those of a review.
	Review       ref       `json:"review"`
	Open         read.Word `json:"open"`
	ClosedReason read.Note `json:"closed_reason"`
	// Evidence and Transactions are those of a dispute.
	Evidence     json.RawMessage `json:"evidence_details"`
	Transactions json.RawMessage `json:"balance_transactions"`

	failure `json:"-"`
}

// attemptKey is the metadata's name of the merchant's id of the attempt. Only a secret key writes metadata
// (https://docs.stripe.com/metadata); client_reference_id may be a parameter of a payment link's address
// (https://docs.stripe.com/payment-links/url-parameters).
const attemptKey = "payment_attempt_id"

// ref is the id of an object that may come expanded, as the object itself.
type ref string

// UnmarshalJSON implements json.Unmarshaler.
func (r *ref) UnmarshalJSON(raw []byte) error {
	if object := read.Members(raw); object != nil {
		raw = object["id"]
	}
	*r = ref(read.Text(raw))
	return nil
}

// metadata holds those of a merchant's values that are texts.
type metadata map[string]string

// UnmarshalJSON implements json.Unmarshaler.
func (m *metadata) UnmarshalJSON(raw []byte) error {
	*m = read.TextMembers(raw)
	return nil
}

func parse(body []byte) (webhooks.Event, error) {
	var envelope rawEvent
	if err := read.JSON("event", body, &envelope); err != nil {
		return webhooks.Event{}, err
	}
	event := webhooks.Event{
		ID: string(envelope.ID), IDSource: webhooks.Native, Type: string(envelope.Type), Kind: webhooks.KindIgnored,
		OccurredAt: read.Time(envelope.Created), Mode: read.ModeText(string(envelope.Livemode), "false", "true"),
		Payee: string(envelope.Account),
	}
	if event.ID == "" || event.Type == "" {
		return event, fmt.Errorf("%w: event without id or type", webhooks.ErrPayload)
	}
	raw := read.Members(envelope.Data)["object"]
	if kind := methodKinds[event.Type]; kind != "" {
		return withMethod(event, kind, raw)
	}
	reading := readingOf(event.Type)
	if reading == nil {
		return event, nil
	}
	var object objectData
	if err := read.JSON("object of "+event.Type, raw, &object); err != nil {
		return event, err
	}
	read.Loosely(raw, &object.failure)
	object.version = string(envelope.Version)
	return object.fill(event, reading)
}

func (o objectData) fill(e webhooks.Event, reading func(objectData) (webhooks.Kind, *read.Integer)) (webhooks.Event, error) {
	kind, amount := reading(o)
	if kind == webhooks.KindUnreadable {
		return e, fmt.Errorf("%w: captured of %s is neither true nor false", webhooks.ErrPayload, e.Type)
	}
	e.Kind = kind
	e.Cumulative = e.Type == "charge.refunded"
	e.References = o.references()
	e.ProviderPaymentID, e.Container = o.payment(), o.own("checkout.session")
	e.BrowserMark = o.Metadata[attemptKey] == "" && o.ClientReferenceID != ""
	if e.Type == "checkout.session.expired" {
		e.ProviderPaymentID = "" // the end of a page names no payment
	}
	e.Review = o.review()
	if o.Object == "refund" {
		e.RefundID, e.RefundReference = o.ID, o.Metadata["refund_id"]
	}
	if kind.IsMovement() {
		e.MovementID = o.own("dispute")
	}
	if kind.IsFailure() {
		e.FailureCode, e.ProviderCode = o.failureOf(e.Type)
	}
	e, err := read.WithUnits(e, amount, o.Currency, exponents)
	return o.withDispute(e), err
}

// own returns the object's id if it is of that type.
func (o objectData) own(object string) string {
	if o.Object == object {
		return o.ID
	}
	return ""
}

// payment returns the id of the payment intent, or of the charge where there is no intent: a session has none until its
// customer pays.
func (o objectData) payment() string {
	return cmp.Or(o.own("payment_intent"), string(o.PaymentIntent), o.own("charge"), string(o.Charge))
}

func (o objectData) references() []string {
	return read.References(o.Metadata[attemptKey],
		o.own("payment_intent"), string(o.PaymentIntent),
		o.own("charge"), string(o.Charge), string(o.LatestCharge),
		o.own("checkout.session"), string(o.ClientReferenceID))
}
