package braintree

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// change is a request that changes a transaction.
type change struct {
	Amount  string `json:"amount,omitempty"`
	OrderID string `json:"order_id,omitempty"`
	Key     string `json:"api_request_key,omitempty"`
}

// Capture implements gateway.Provider ("Submit For Settlement"). The transaction's amount becomes the submitted amount;
// Braintree releases the rest.
func (c *Client) Capture(ctx context.Context, cp gateway.Capture) (gateway.Outcome, error) {
	amount, err := c.amount(cp.Money)
	if err != nil {
		return gateway.Outcome{}, err
	}
	return c.change(ctx, cp.ProviderPaymentID, "submit_for_settlement", cp.Permit, change{Amount: amount, Key: c.key(cp.IdempotencyKey)}, fsm.EventSucceeded)
}

// Cancel implements gateway.Provider ("Void"). A void also undoes a transaction that is submitted for settlement. Cancel
// therefore looks the transaction up first, and does not void a captured transaction. If a capture happens between the
// lookup and the void, the void undoes that capture, and the outcome reports it.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	if err := kit.EndsNoContainer(cl); err != nil {
		return gateway.Outcome{}, err
	}
	now, err := c.transaction(ctx, cl.ProviderPaymentID, &cl.Permit)
	if err != nil {
		return gateway.Outcome{}, err
	}
	o, err := now.outcome()
	if err != nil || o.Event == fsm.EventFailed || o.Event == fsm.EventSucceeded {
		o.Refused = o.Event == fsm.EventSucceeded
		return o, err
	}
	return c.change(ctx, cl.ProviderPaymentID, "void", cl.Permit, change{Key: c.key(cl.IdempotencyKey)}, fsm.EventFailed)
}

// change sends a command about a transaction. After a refusal it looks the transaction up. Refused is not set if the
// transaction already has the wanted state, because an earlier call then succeeded.
func (c *Client) change(ctx context.Context, id, verb string, l gateway.Permit, with change, wanted fsm.Event) (gateway.Outcome, error) {
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
	o.Refused = o.Event != wanted
	return o, err
}
