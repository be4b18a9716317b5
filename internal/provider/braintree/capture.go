package braintree

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// change is a request to change a transaction.
type change struct {
	Amount  string `json:"amount,omitempty"`
	OrderID string `json:"order_id,omitempty"`
	Key     string `json:"api_request_key,omitempty"`
}

// Capture implements gateway.Provider ("Submit For Settlement"). The amount of the transaction is then what was
// submitted; the rest is released.
func (c *Client) Capture(ctx context.Context, cp gateway.Capture) (gateway.Outcome, error) {
	amount, err := c.amount(cp.Money)
	if err != nil {
		return gateway.Outcome{}, err
	}
	return c.change(ctx, cp.ProviderPaymentID, "submit_for_settlement", cp.Permit, change{Amount: amount, Key: c.key(cp.IdempotencyKey)}, fsm.NewsSucceeded)
}

// Cancel implements gateway.Provider ("Void"). A void releases what is submitted for settlement as well, so the
// transaction is looked up first: one that is captured is not cancelled. If it is captured between the two, the void
// undoes that, and the outcome reports it.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	if err := call.EndsNoContainer(cl); err != nil {
		return gateway.Outcome{}, err
	}
	now, err := c.transaction(ctx, cl.ProviderPaymentID, &cl.Permit)
	if err != nil {
		return gateway.Outcome{}, err
	}
	o, err := now.outcome()
	if err != nil || o.News == fsm.NewsFailed || o.News == fsm.NewsSucceeded {
		o.Refused = o.News == fsm.NewsSucceeded
		return o, err
	}
	return c.change(ctx, cl.ProviderPaymentID, "void", cl.Permit, change{Key: c.key(cl.IdempotencyKey)}, fsm.NewsFailed)
}

// change sends a command about a transaction. After a refusal the transaction is looked up; Refused is not set if it
// has the wanted state: an earlier call led to it.
func (c *Client) change(ctx context.Context, id, verb string, l gateway.Permit, with change, wanted fsm.News) (gateway.Outcome, error) {
	var request any
	if with != (change{}) {
		request = body{with}
	}
	changed, refused, err := c.command(ctx, http.MethodPut, transactionPath(id)+"/"+verb, l, request)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused.missing():
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	case refused.open():
		return gateway.Outcome{}, refused
	case refused == nil:
		return changed.outcome()
	}
	now, err := c.transaction(ctx, id, nil)
	if err != nil {
		return gateway.Outcome{}, err
	}
	o, err := now.outcome()
	o.Refused = o.News != wanted
	return o, err
}
