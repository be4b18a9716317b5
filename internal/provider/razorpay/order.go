package razorpay

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// orderRequest creates an order (https://razorpay.com/docs/api/orders/create/).
type orderRequest struct {
	Amount   int64             `json:"amount"`
	Currency string            `json:"currency"`
	Receipt  string            `json:"receipt"`
	Notes    map[string]string `json:"notes"`
	Payment  captureSettings   `json:"payment"`
}

// captureSettings override the account's capture settings
// (https://razorpay.com/docs/payments/payments/capture-settings/api/).
type captureSettings struct {
	Capture string         `json:"capture"`
	Options captureOptions `json:"capture_options"`
}

// captureOptions set the time limit of an authorization, in minutes after the payment began. Razorpay refunds a payment
// that is authorized later, and never captures it.
type captureOptions struct {
	Automatic   int    `json:"automatic_expiry_period"`
	Manual      int    `json:"manual_expiry_period"`
	RefundSpeed string `json:"refund_speed"`
}

// captureMinutes is the shortest time that Razorpay accepts.
const captureMinutes = 12

// order is Razorpay's view of an order (https://razorpay.com/docs/api/orders/entity/).
type order struct {
	ID       string    `json:"id"`
	Entity   string    `json:"entity"`
	Status   string    `json:"status"`
	Receipt  string    `json:"receipt"`
	Attempts int       `json:"attempts"`
	Notes    noteTexts `json:"notes"`
}

func isOrder(id string) bool { return strings.HasPrefix(id, "order_") }

// script is the input of Razorpay's script
// (https://razorpay.com/docs/payments/payment-gateway/web-integration/standard/integration-steps/). The payment gets
// these notes, and its webhooks contain them.
type script struct {
	Key         string            `json:"key"`
	OrderID     string            `json:"order_id"`
	Amount      int64             `json:"amount"`
	Currency    string            `json:"currency"`
	Description string            `json:"description"`
	Prefill     *prefill          `json:"prefill,omitempty"`
	Notes       map[string]string `json:"notes"`
}

// prefill is the data that the script prefills. The customer can correct it.
type prefill struct {
	customer

	Method string `json:"method,omitempty"`
}

// order creates an order that the script pays. A receipt "has to be unique": if an order with this receipt exists, order
// returns it and creates no other. If Razorpay created a second order nevertheless, no script could pay the first,
// because its id was never passed on.
func (c *Client) order(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	units, err := atOnce(ch)
	if err != nil {
		return gateway.Outcome{}, err
	}
	var made order
	refused, err := c.api.Post(ctx, "/orders", nil, ch.Permit, orderRequest{
		Amount: units, Currency: string(ch.Money.Currency), Receipt: ch.Attempt.String(), Notes: notesOf(ch),
		Payment: captureSettings{Capture: "automatic", Options: captureOptions{captureMinutes, captureMinutes, "normal"}},
	}, &made)
	if err != nil {
		return gateway.Outcome{}, err
	}
	if refused == nil {
		return c.waits(ctx, ch, made, units)
	}
	if !refused.turnedAway() {
		if o, err := c.earlier(ctx, ch, units); !isMissing(err) {
			return o, err
		}
	}
	return gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", refused.code())}, nil
}

// earlier returns the outcome of the attempt's existing order.
func (c *Client) earlier(ctx context.Context, ch gateway.Charge, units int64) (gateway.Outcome, error) {
	made, err := c.findOrder(ctx, ch.Attempt, nil)
	if err != nil {
		return gateway.Outcome{}, err
	}
	now, err := c.lookupOrder(ctx, made.ID, nil)
	if err != nil || now.Event != fsm.EventActionRequired {
		return now, missing(err)
	}
	return c.waits(ctx, ch, made, units)
}

// waits returns the outcome of an order that the customer must pay.
func (c *Client) waits(ctx context.Context, ch gateway.Charge, made order, units int64) (gateway.Outcome, error) {
	if made.Entity != "order" || !isOrder(made.ID) {
		return gateway.Outcome{}, errNameless
	}
	if ch.Token == intent {
		return c.open(ctx, ch, made, units)
	}
	data := script{
		Key: c.id, OrderID: made.ID, Amount: units, Currency: string(ch.Money.Currency), Description: description(ch), Notes: notesOf(ch),
	}
	if known := customerOf(ch.Customer); known != nil || ch.MethodType != "" {
		data.Prefill = &prefill{Method: ch.MethodType}
		if known != nil {
			data.Prefill.customer = *known
		}
	}
	raw, _ := json.Marshal(data) //nolint:errchkjson // texts and a number always marshal
	return gateway.Outcome{
		Event: fsm.EventActionRequired, Container: made.ID, References: []string{made.ID}, NextAction: &payment.NextAction{Type: payment.ActionSDK, Data: raw},
	}, nil
}

// findOrder searches for an order by its receipt, which is the attempt's id
// (https://razorpay.com/docs/api/orders/fetch-all/).
func (c *Client) findOrder(ctx context.Context, id payment.AttemptID, l *gateway.Permit) (order, error) {
	var list struct {
		Items []order `json:"items"`
	}
	query := url.Values{"receipt": {id.String()}}
	if err := c.api.Get(ctx, "/orders?"+query.Encode(), l, &list); err != nil {
		return order{}, err
	}
	if list.Items == nil {
		return order{}, errNameless
	}
	for _, found := range list.Items {
		if found.Receipt == id.String() {
			return found, nil
		}
	}
	return order{}, gateway.ErrNoSuchPayment
}

// lookupOrder returns the outcome of an order. A captured payment decides it, then an authorized payment, then the last
// payment.
func (c *Client) lookupOrder(ctx context.Context, id string, l *gateway.Permit) (gateway.Outcome, error) {
	var found order
	if err := c.api.Get(ctx, orderPath(id), l, &found); err != nil {
		return gateway.Outcome{}, err
	}
	if found.Entity != "order" || found.ID == "" || found.Status == "" {
		return gateway.Outcome{}, errNameless
	}
	open := gateway.Outcome{Event: fsm.EventActionRequired, Container: found.ID, References: []string{found.ID}}
	if found.Status == statusCreated && found.Attempts == 0 {
		return open, nil
	}
	made, err := c.paymentsOf(ctx, id, nil)
	if err != nil {
		return gateway.Outcome{}, missing(err)
	}
	counts, held := best(made)
	switch {
	case held:
		o, err := counts.of(found.ID)
		if err != nil || counts.Refunded == 0 {
			return o, err
		}
		return c.withRefunds(ctx, o, counts.ID)
	case found.Status == statusPaid:
		return gateway.Outcome{}, errNameless
	case counts.Status == statusFailed:
		o, err := counts.of(found.ID)
		// A link to an app has no page: the customer can't try again, and Razorpay may still authorize the payment late.
		o.PageOpen = o.PageOpen && found.Notes[flowNote] != intent
		return o, err
	}
	return open, nil
}

// best returns the payment that decides the order's outcome, and reports whether it is captured or authorized.
func best(made []paid) (paid, bool) {
	for _, status := range []string{"captured", "authorized"} {
		for _, p := range made {
			if p.Status == status || status == "captured" && p.Status == "refunded" && (p.Captured == nil || *p.Captured) {
				return p, true
			}
		}
	}
	return lastOf(made), false
}

// of returns the outcome of an order's payment.
func (p paid) of(order string) (gateway.Outcome, error) {
	o, err := p.outcome()
	o.Container, o.References = order, []string{order}
	return o, err
}

// paymentOfOrder returns an order's captured payment and the order's status. The payment is empty if the order is
// unpaid.
func (c *Client) paymentOfOrder(ctx context.Context, id string, l *gateway.Permit) (payment, status string, err error) {
	made, err := c.paymentsOf(ctx, id, l)
	if err != nil {
		return "", "", err
	}
	if p, held := best(made); held && p.Status != "authorized" {
		return p.ID, statusPaid, nil
	}
	return "", statusCreated, nil
}
