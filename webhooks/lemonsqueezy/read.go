package lemonsqueezy

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// rawEvent is the envelope, a JSON:API document (https://docs.lemonsqueezy.com/help/webhooks/webhook-requests).
type rawEvent struct {
	Meta read.Optional[struct {
		EventName  read.Note       `json:"event_name"`
		TestMode   read.Word       `json:"test_mode"`
		CustomData json.RawMessage `json:"custom_data"`
	}] `json:"meta"`
	Data read.Optional[struct {
		Type       read.Note       `json:"type"`
		ID         read.Note       `json:"id"`
		Attributes json.RawMessage `json:"attributes"`
	}] `json:"data"`
}

// attributes holds the fields read from an order or from a subscription's invoice.
type attributes struct {
	Identifier     read.Note       `json:"identifier"`
	StoreID        read.Word       `json:"store_id"`
	BillingReason  read.Note       `json:"billing_reason"`
	Status         string          `json:"status"`
	TestMode       read.Word       `json:"test_mode"`
	UpdatedAt      json.RawMessage `json:"updated_at"`
	CreatedAt      json.RawMessage `json:"created_at"`
	Currency       read.Word       `json:"currency"`
	Total          *read.Integer   `json:"total"`
	RefundedAmount *read.Integer   `json:"refunded_amount"`
}

func parse(body []byte) (webhooks.Event, error) {
	var envelope rawEvent
	if err := read.JSON("event", body, &envelope); err != nil {
		return webhooks.Event{}, err
	}
	meta, data := envelope.Meta.Value, envelope.Data.Value
	event := webhooks.Event{IDSource: webhooks.Derived, Type: string(meta.EventName)}
	if event.Type == "" {
		return event, fmt.Errorf("%w: no meta.event_name", webhooks.ErrPayload)
	}
	var object attributes
	err := read.JSON("attributes of "+event.Type, data.Attributes, &object)
	event.ID = read.DerivedID(event.Type, string(data.Type), string(data.ID),
		object.Status, object.RefundedAmount.Text(), read.Text(object.UpdatedAt))
	event.Kind = object.kind(event.Type)
	if event.Kind == webhooks.KindSucceeded && data.Type == invoices && object.BillingReason == "initial" {
		event.Kind = webhooks.KindIgnored // its order has the same money, in an event of its own
	}
	event.OccurredAt = read.Time(object.UpdatedAt)
	event.Mode = read.ModeText(string(cmp.Or(meta.TestMode, object.TestMode)), "true", "false")
	switch {
	case event.Kind == webhooks.KindIgnored:
		return event, nil
	case err != nil:
		return event, err
	}
	return object.fill(event, envelope)
}

const (
	orderCreated = "order_created"
	// invoices is the type of a subscription's invoices. They are numbered apart from orders.
	invoices = "subscription-invoices"
)

// kind reads an event. order_created has the order's status at that time. Lemon Squeezy tries a failed payment of a
// subscription again.
func (l attributes) kind(eventName string) webhooks.Kind {
	switch eventName {
	case orderCreated:
		return l.orderKind()
	case "order_refunded", "subscription_payment_refunded":
		return webhooks.KindRefundSucceeded
	case "subscription_payment_success", "subscription_payment_recovered":
		return webhooks.KindSucceeded
	case "subscription_payment_failed":
		return webhooks.KindSoftFailed
	default:
		return webhooks.KindIgnored
	}
}

func (l attributes) orderKind() webhooks.Kind {
	switch l.Status {
	case "paid", "refunded", "partial_refund":
		return webhooks.KindSucceeded
	case "failed": // another try of the customer makes another order
		return webhooks.KindFailed
	case "fraudulent":
		return webhooks.KindFailed
	default:
		return webhooks.KindProcessing
	}
}

// fill reads the names and the amount. A checkout's link makes an order each time that it is paid, all with one mark: each
// order is a payment, and a failed one leaves the page open. An invoice of a subscription is one, too; that of a renewal
// has the mark of the first, and is another sale. Custom data are in the link's address, where a browser can change them.
func (l attributes) fill(e webhooks.Event, envelope rawEvent) (webhooks.Event, error) {
	data := envelope.Data.Value
	mark := read.TextMembers(envelope.Meta.Value.CustomData)["payment_attempt_id"]
	if l.BillingReason == "renewal" || l.BillingReason == "updated" {
		mark = ""
	}
	e.ProviderPaymentID = string(data.ID)
	if data.Type == invoices && data.ID != "" {
		e.ProviderPaymentID = invoices + "/" + string(data.ID)
	}
	e.Payee, e.BrowserMark = string(l.StoreID), mark != ""
	e.References = read.References(mark, e.ProviderPaymentID, string(l.Identifier))
	e.PageOpen = e.Type == orderCreated && l.Status == "failed"
	if e.Kind.IsFailure() {
		e.FailureCode, e.ProviderCode = webhooks.CodeProviderRejected, l.Status
	}
	if l.Status == "fraudulent" && e.Kind == webhooks.KindFailed {
		e.FailureCode = webhooks.CodeFraudSuspected
	}
	amount := l.Total
	if e.Kind == webhooks.KindRefundSucceeded {
		amount, e.Cumulative = cmp.Or(l.RefundedAmount, l.Total), true
	}
	return read.WithUnits(e, amount, l.Currency, nil)
}
