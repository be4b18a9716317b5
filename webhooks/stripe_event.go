package webhooks

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// stripeExponents names the currencies whose digits at Stripe differ from ISO
// 4217 (https://docs.stripe.com/currencies, "Zero-decimal currencies" and
// "Special cases"): the ariary has none there, and amounts of the króna and the
// Ugandan shilling are still written with two that are always zero.
var stripeExponents = map[string]int{"ISK": 2, "MGA": 0, "UGX": 2}

// stripeEvent is the envelope (https://docs.stripe.com/api/events/object).
type stripeEvent struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Version  string          `json:"api_version"`
	Created  json.RawMessage `json:"created"`
	Livemode *bool           `json:"livemode"`
	Data     struct {
		Object json.RawMessage `json:"object"`
	} `json:"data"`
}

// stripeObject holds what is read of a payment intent, charge, refund, dispute
// or Checkout session; each has some of it.
type stripeObject struct {
	// version is that of the API in which the object is written.
	version string

	ID       string            `json:"id"`
	Object   string            `json:"object"`
	Status   string            `json:"status"`
	Currency string            `json:"currency"`
	Metadata map[string]string `json:"metadata"`

	Amount           *integer `json:"amount"`
	AmountCapturable *integer `json:"amount_capturable"`
	AmountCaptured   *integer `json:"amount_captured"`
	AmountReceived   *integer `json:"amount_received"`
	AmountRefunded   *integer `json:"amount_refunded"`
	AmountTotal      *integer `json:"amount_total"`
	Captured         *bool    `json:"captured"`

	PaymentIntent     stripeRef `json:"payment_intent"`
	Charge            stripeRef `json:"charge"`
	LatestCharge      stripeRef `json:"latest_charge"`
	ClientReferenceID string    `json:"client_reference_id"`
	PaymentStatus     string    `json:"payment_status"`
	Reason            string    `json:"reason"`

	stripeFailure
}

// stripeRef is the id of an object that may come expanded, as the object itself.
type stripeRef string

// UnmarshalJSON implements json.Unmarshaler.
func (r *stripeRef) UnmarshalJSON(raw []byte) error {
	if object := members(raw); object != nil {
		raw = object["id"]
	}
	*r = stripeRef(jsonText(raw))
	return nil
}

func parseStripe(body []byte) (Event, error) {
	var envelope stripeEvent
	if err := decode("event", body, &envelope); err != nil {
		return Event{}, err
	}
	if envelope.ID == "" || envelope.Type == "" {
		return Event{}, fmt.Errorf("%w: event without id or type", ErrPayload)
	}
	event := Event{
		ID: envelope.ID, IDSource: Native, Type: envelope.Type, Kind: KindIgnored,
		OccurredAt: jsonTime(envelope.Created),
		TestKnown:  envelope.Livemode != nil,
		Test:       envelope.Livemode != nil && !*envelope.Livemode,
	}
	reading := stripeReading(event.Type)
	if reading == nil {
		return event, nil
	}
	var object stripeObject
	if err := decode("object of "+event.Type, envelope.Data.Object, &object); err != nil {
		return Event{}, err
	}
	object.version = envelope.Version
	return object.fill(event, reading)
}

// fill adds to an event what its object says.
func (o stripeObject) fill(e Event, reading func(stripeObject) (Kind, *integer)) (Event, error) {
	kind, amount := reading(o)
	e.Kind = kind
	e.Cumulative = e.Type == "charge.refunded"
	e.References = o.references()
	e.ProviderPaymentID = o.payment()
	if o.Object == "refund" {
		e.RefundID, e.RefundReference = o.ID, o.Metadata["refund_id"]
	}
	if kind.moves() {
		e.MovementID = o.own("dispute")
	}
	if kind.failed() {
		e.FailureCode, e.ProviderCode = o.failureOf(e.Type)
	}
	return e.withMoney(moneyIn(amount, o.Currency, stripeExponents))
}

// own returns the object's id if it is of that type.
func (o stripeObject) own(object string) string {
	if o.Object == object {
		return o.ID
	}
	return ""
}

// payment returns the id of the payment intent, of the charge where there is no
// intent, or of the session that will make one.
func (o stripeObject) payment() string {
	return cmp.Or(o.own("payment_intent"), string(o.PaymentIntent),
		o.own("charge"), string(o.Charge), o.own("checkout.session"))
}

func (o stripeObject) references() []string {
	return references(o.Metadata["payment_attempt_id"],
		o.own("payment_intent"), string(o.PaymentIntent),
		o.own("charge"), string(o.Charge), string(o.LatestCharge),
		o.own("checkout.session"), o.ClientReferenceID)
}
