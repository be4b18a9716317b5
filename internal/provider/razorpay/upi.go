package razorpay

import (
	"context"
	"encoding/json"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// upiRequest begins the payment of an order in a UPI app
// (https://razorpay.com/docs/payments/payment-gateway/s2s-integration/payment-methods/upi/intent/). Razorpay has ended the
// other flow, in which the customer enters a UPI id (https://razorpay.com/docs/announcements/upi-collect-migration/).
type upiRequest struct {
	Amount      int64             `json:"amount"`
	Currency    string            `json:"currency"`
	OrderID     string            `json:"order_id"`
	Email       string            `json:"email,omitempty"`
	Contact     string            `json:"contact,omitempty"`
	Method      string            `json:"method"`
	IP          string            `json:"ip,omitempty"`
	UserAgent   string            `json:"user_agent,omitempty"`
	Description string            `json:"description"`
	Notes       map[string]string `json:"notes"`
	UPI         map[string]string `json:"upi"`
}

// flowNote is the note of an order whose customer gets a link to an app. No other payment of such an order is possible.
const flowNote = "upi_flow"

// noteTexts are a payment's or an order's notes. Razorpay writes no notes as an empty list.
type noteTexts map[string]string

// UnmarshalJSON implements json.Unmarshaler. Notes that are not texts are not ours.
func (n *noteTexts) UnmarshalJSON(raw []byte) error {
	texts := map[string]string{}
	if json.Unmarshal(raw, &texts) == nil {
		*n = texts
	}
	return nil
}

// open begins the payment of an order and returns the link to the app. If the call fails, the customer never
// gets the link, and the order can't be paid.
func (c *Client) open(ctx context.Context, ch gateway.Charge, made order, units int64) (gateway.Outcome, error) {
	r := upiRequest{
		Amount: units, Currency: string(ch.Money.Currency), OrderID: made.ID, Email: ch.Customer.Email, Contact: ch.Customer.Phone, Method: "upi",
		IP: ch.Customer.IP, Description: description(ch), Notes: notesOf(ch), UPI: map[string]string{"flow": "intent"},
	}
	if ch.Browser != nil {
		r.UserAgent = ch.Browser.UserAgent
	}
	var begun struct {
		PaymentID string `json:"razorpay_payment_id"`
		Link      string `json:"link"`
	}
	refused, err := c.api.Post(ctx, "/payments/create/upi", nil, ch.Permit, r, &begun)
	o := gateway.Outcome{Event: fsm.EventFailed, Container: made.ID, References: []string{made.ID}}
	switch {
	case err == nil && refused != nil:
		o.Failure = payment.NewFailure("provider_rejected", refused.code())
	case err != nil, !isPayment(begun.PaymentID), begun.Link == "":
		o.Failure = payment.NewFailure("not_started", "")
	default:
		o.Event, o.NextAction = fsm.EventActionRequired, nextIn(begun.Link)
	}
	return o, nil
}

// nextIn returns the link, which a telephone opens. A QR code for other devices has it as its text.
func nextIn(link string) *payment.NextAction {
	data, _ := json.Marshal(map[string]string{"type": intent, "qr": link}) //nolint:errchkjson // texts always marshal
	return &payment.NextAction{Type: payment.ActionDisplay, URL: link, Data: data}
}
