package webhooks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
)

// lemonsqueezyEvent is the envelope, a JSON:API document
// (https://docs.lemonsqueezy.com/help/webhooks/webhook-requests).
type lemonsqueezyEvent struct {
	Meta struct {
		EventName  string          `json:"event_name"`
		TestMode   *bool           `json:"test_mode"`
		CustomData json.RawMessage `json:"custom_data"`
	} `json:"meta"`
	Data struct {
		Type       string          `json:"type"`
		ID         string          `json:"id"`
		Attributes json.RawMessage `json:"attributes"`
	} `json:"data"`
}

// lemonsqueezyAttributes holds what is read of an order or of a subscription's
// invoice.
type lemonsqueezyAttributes struct {
	Identifier     string          `json:"identifier"`
	Status         string          `json:"status"`
	TestMode       *bool           `json:"test_mode"`
	UpdatedAt      json.RawMessage `json:"updated_at"`
	CreatedAt      json.RawMessage `json:"created_at"`
	Currency       string          `json:"currency"`
	Total          *integer        `json:"total"`
	RefundedAmount *integer        `json:"refunded_amount"`
}

func parseLemonSqueezy(body []byte) (Event, error) {
	var envelope lemonsqueezyEvent
	if err := decode("event", body, &envelope); err != nil {
		return Event{}, err
	}
	if envelope.Meta.EventName == "" {
		return Event{}, fmt.Errorf("%w: no meta.event_name", ErrPayload)
	}
	event := Event{IDSource: Derived, Type: envelope.Meta.EventName}
	var object lemonsqueezyAttributes
	if raw := envelope.Data.Attributes; raw != nil {
		err := decode("attributes of "+event.Type, raw, &object)
		if err != nil && object.kind(event.Type) != KindIgnored {
			return Event{}, err
		}
	}
	event.ID = derivedID(event.Type, envelope.Data.Type, envelope.Data.ID,
		object.Status, object.RefundedAmount.text(), jsonText(object.UpdatedAt))
	event.Kind = object.kind(event.Type)
	event.OccurredAt = jsonTime(object.UpdatedAt)
	if test := cmp.Or(envelope.Meta.TestMode, object.TestMode); test != nil {
		event.Test, event.TestKnown = *test, true
	}
	if event.Kind == KindIgnored {
		return event, nil
	}
	return object.fill(event, envelope)
}

// text returns the digits, "" for none.
func (i *integer) text() string {
	if i == nil {
		return ""
	}
	return strconv.FormatInt(int64(*i), 10)
}

// kind reads an event. order_created comes with whatever status the order has
// then; a failed payment of a subscription is tried again by Lemon Squeezy.
func (l lemonsqueezyAttributes) kind(eventName string) Kind {
	switch eventName {
	case "order_created":
		return l.orderKind()
	case "order_refunded", "subscription_payment_refunded":
		return KindRefundSucceeded
	case "subscription_payment_success", "subscription_payment_recovered":
		return KindSucceeded
	case "subscription_payment_failed":
		return KindSoftFailed
	default:
		return KindIgnored
	}
}

func (l lemonsqueezyAttributes) orderKind() Kind {
	switch l.Status {
	case "paid", "refunded", "partial_refund":
		return KindSucceeded
	case "failed":
		return KindSoftFailed
	case "fraudulent":
		return KindFailed
	default:
		return KindProcessing
	}
}

func (l lemonsqueezyAttributes) fill(e Event, envelope lemonsqueezyEvent) (Event, error) {
	e.ProviderPaymentID = envelope.Data.ID
	e.References = references(textMembers(envelope.Meta.CustomData)["payment_attempt_id"], envelope.Data.ID, l.Identifier)
	if e.Kind.failed() {
		e.FailureCode, e.ProviderCode = codeProviderRejected, l.Status
	}
	if l.Status == "fraudulent" && e.Kind == KindFailed {
		e.FailureCode = codeFraudSuspected
	}
	amount := l.Total
	if e.Kind == KindRefundSucceeded {
		amount, e.Cumulative = cmp.Or(l.RefundedAmount, l.Total), true
	}
	return e.withMoney(moneyIn(amount, l.Currency, nil))
}
