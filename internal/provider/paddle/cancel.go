package paddle

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Cancel implements gateway.Provider. A ready or billed transaction can be cancelled, but a draft can't be
// (https://developer.paddle.com/errors/transactions/transaction_invalid_status_change.md). A draft counts as cancelled
// without a command. If the customer pays it afterwards, on a page that is still open, that is a late success.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	now, err := c.transaction(ctx, cl.ProviderPaymentID, &cl.Permit)
	if err != nil {
		return gateway.Outcome{}, err
	}
	o, err := now.outcome()
	switch {
	case err != nil, o.Event == fsm.EventFailed:
		return o, err
	case o.Event == fsm.EventSucceeded:
		o.Refused = true
		return o, nil
	case now.Status == draft:
		return givenUp(o), nil
	}
	return c.cancel(ctx, cl)
}

// givenUp returns the outcome of a draft that counts as cancelled.
func givenUp(o gateway.Outcome) gateway.Outcome {
	o.Event, o.NextAction, o.Failure = fsm.EventFailed, nil, payment.NewFailure("canceled", "")
	return o
}

// cancel sends the command. After a refusal it looks the transaction up, because the customer may have paid it, or be
// paying it.
func (c *Client) cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	var over struct {
		Data transaction `json:"data"`
	}
	refused, err := c.api.Do(ctx, kit.Request{Method: http.MethodPatch, URL: transactionPath(cl.ProviderPaymentID), Permit: &cl.Permit},
		map[string]string{"status": canceled}, &over)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused == nil:
		return over.Data.outcome()
	case refused.Missing():
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	}
	now, err := c.transaction(ctx, cl.ProviderPaymentID, nil)
	if err != nil {
		return gateway.Outcome{}, err
	}
	o, err := now.outcome()
	o.Refused = o.Event != fsm.EventFailed
	return o, err
}
