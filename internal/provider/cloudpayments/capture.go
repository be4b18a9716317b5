package cloudpayments

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

type amountRequest struct {
	TransactionID json.Number       `json:"TransactionId"`
	Amount        json.Number       `json:"Amount"`
	Data          map[string]string `json:"JsonData,omitempty"`
}

// Capture implements payment.Provider
// (https://developers.cloudpayments.ru/#podtverzhdenie-oplaty). What is not
// captured is released. The answer does not say how much was taken: what was
// asked for.
func (c *Client) Capture(ctx context.Context, cp payment.Capture) (payment.Outcome, error) {
	amount, err := call.Decimal(cp.Money)
	if err != nil {
		return payment.Outcome{}, err
	}
	id, err := c.transactionOf(ctx, cp.ProviderPaymentID)
	if err != nil {
		return payment.Outcome{}, err
	}
	a, err := c.command(ctx, "/payments/confirm", cp.IdempotencyKey, cp.Licence, amountRequest{TransactionID: id, Amount: json.Number(amount)})
	switch {
	case err != nil:
		return payment.Outcome{}, err
	case !a.Success:
		return c.stands(ctx, cp.ProviderPaymentID, fsm.NewsSucceeded)
	}
	return payment.Outcome{News: fsm.NewsSucceeded, ProviderPaymentID: cp.ProviderPaymentID, Money: &cp.Money}, nil
}

// Cancel implements payment.Provider (https://developers.cloudpayments.ru/#otmena-oplaty).
func (c *Client) Cancel(ctx context.Context, cl payment.Cancel) (payment.Outcome, error) {
	n, err := parseName(cl.ProviderPaymentID)
	if err != nil {
		return payment.Outcome{}, notSent(err)
	}
	if n.order != "" {
		return c.close(ctx, n, cl)
	}
	a, err := c.command(ctx, "/payments/void", cl.IdempotencyKey, cl.Licence, transactionRequest{n.transaction})
	switch {
	case err != nil:
		return payment.Outcome{}, err
	case !a.Success:
		return c.stands(ctx, cl.ProviderPaymentID, fsm.NewsFailed)
	}
	return canceled(cl.ProviderPaymentID), nil
}

type orderRequest struct {
	ID string `json:"Id"`
}

// close cancels an order (https://developers.cloudpayments.ru/#otmena-sozdannogo-scheta),
// so that its page takes no further payment, and then sees to the last one that
// it took. What is still under way there can't be stopped, only waited for.
func (c *Client) close(ctx context.Context, n name, cl payment.Cancel) (payment.Outcome, error) {
	a, err := c.command(ctx, "/orders/cancel", cl.IdempotencyKey, cl.Licence, orderRequest{n.order})
	if err != nil {
		return payment.Outcome{}, err
	}
	now, err := c.lastOn(ctx, n)
	switch {
	case errors.Is(err, payment.ErrNoSuchPayment) && a.Success:
		return canceled(n.String()), nil
	case errors.Is(err, payment.ErrNoSuchPayment):
		now = unpaid(n)
		now.Refused = true
	case err != nil:
		return payment.Outcome{}, err
	case now.News == fsm.NewsSoftFailed && a.Success:
		now.News = fsm.NewsFailed
	case now.News == fsm.NewsAuthorized:
		return c.release(ctx, n, cl)
	case now.News == fsm.NewsSucceeded:
		now.Refused = true
	}
	return now, nil
}

// release gives up what the customer has authorised on a page.
func (c *Client) release(ctx context.Context, n name, cl payment.Cancel) (payment.Outcome, error) {
	id, err := c.transactionOf(ctx, n.String())
	if err != nil {
		return payment.Outcome{}, err
	}
	// The key was the order's: another request needs another.
	a, err := c.command(ctx, "/payments/void", cl.IdempotencyKey+"-hold", cl.Licence, transactionRequest{id})
	switch {
	case err != nil:
		return payment.Outcome{}, err
	case !a.Success:
		return c.stands(ctx, n.String(), fsm.NewsFailed)
	}
	return canceled(n.String()), nil
}

func canceled(id string) payment.Outcome {
	return payment.Outcome{News: fsm.NewsFailed, ProviderPaymentID: id, Failure: payment.NewFailure("canceled", "")}
}

// stands asks how a payment stands whose command was refused. It was not, if the
// payment already is as the command wants it: an earlier call did it.
func (c *Client) stands(ctx context.Context, id string, wanted fsm.News) (payment.Outcome, error) {
	now, err := c.Lookup(ctx, id)
	now.Refused = now.News != wanted
	return now, err
}
