package cloudpayments

import (
	"context"
	"encoding/json"
	"errors"
	"time"

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
// asked for. Of a page on which money was taken no more is.
func (c *Client) Capture(ctx context.Context, cp payment.Capture) (payment.Outcome, error) {
	amount, err := call.Decimal(cp.Money)
	if err != nil {
		return payment.Outcome{}, err
	}
	n, err := parseName(cp.ProviderPaymentID)
	if err != nil {
		return payment.Outcome{}, err
	}
	held := transaction{TransactionID: n.transaction}
	if n.order != "" {
		all, err := c.tries(ctx, n, cp.Transactions)
		if err != nil {
			return payment.Outcome{}, call.NotSent(err)
		}
		if taken, err := all.with("Completed"); err == nil {
			return n.outcome(taken)
		}
		if held, err = all.with("Authorized"); err != nil {
			return payment.Outcome{}, err
		}
	}
	a, err := c.command(ctx, "/payments/confirm", cp.IdempotencyKey, cp.Licence, amountRequest{TransactionID: held.TransactionID, Amount: json.Number(amount)})
	switch {
	case err != nil:
		return payment.Outcome{}, err
	case !a.Success:
		return c.stands(ctx, n, held.TransactionID, fsm.NewsSucceeded)
	}
	return payment.Outcome{News: fsm.NewsSucceeded, ProviderPaymentID: cp.ProviderPaymentID, Money: &cp.Money}, nil
}

// Cancel implements payment.Provider (https://developers.cloudpayments.ru/#otmena-oplaty).
func (c *Client) Cancel(ctx context.Context, cl payment.Cancel) (payment.Outcome, error) {
	n, err := parseName(cl.ProviderPaymentID)
	if err != nil {
		return payment.Outcome{}, call.NotSent(err)
	}
	if n.order != "" {
		return c.close(ctx, n, cl)
	}
	a, err := c.command(ctx, "/payments/void", cl.IdempotencyKey, cl.Licence, transactionRequest{n.transaction})
	switch {
	case err != nil:
		return payment.Outcome{}, err
	case !a.Success:
		return c.stands(ctx, n, n.transaction, fsm.NewsFailed)
	}
	return canceled(cl.ProviderPaymentID), nil
}

type orderRequest struct {
	ID string `json:"Id"`
}

// proofLife is how long a customer may be at the proof of the card's holder, in 3-D
// Secure, after the wish to cancel. CloudPayments documents no time; the protocol's own
// is ten minutes.
const proofLife = 10 * time.Minute

// close cancels an order (https://developers.cloudpayments.ru/#otmena-sozdannogo-scheta),
// so that its page takes no further payment, and then sees to those that it took.
// What is still under way there can't be stopped, only waited for: before a last one
// that was declined there may be one which nobody can ask for.
func (c *Client) close(ctx context.Context, n name, cl payment.Cancel) (payment.Outcome, error) {
	a, err := c.command(ctx, "/orders/cancel", cl.IdempotencyKey, cl.Licence, orderRequest{n.order})
	if err != nil {
		return payment.Outcome{}, err
	}
	all, err := c.tries(ctx, n, cl.Transactions)
	switch {
	case errors.Is(err, payment.ErrNoSuchPayment) && a.Success:
		return canceled(n.String()), nil
	case errors.Is(err, payment.ErrNoSuchPayment):
		now := unpaid(n)
		now.Refused = true
		return now, nil
	case err != nil:
		return payment.Outcome{}, err
	}
	now, err := all.outcome(n)
	switch {
	case now.News == fsm.NewsSoftFailed && a.Success && cl.Quiet >= proofLife:
		now.News = fsm.NewsFailed
	case now.News == fsm.NewsAuthorized:
		return c.release(ctx, n, all, cl)
	case now.News == fsm.NewsSucceeded:
		now.Refused = true
	}
	return now, err
}

// release gives up all that the customer has authorised on a page.
func (c *Client) release(ctx context.Context, n name, all tries, cl payment.Cancel) (payment.Outcome, error) {
	for _, t := range all {
		if t.Status != "Authorized" {
			continue
		}
		// The key was the order's: another request needs another.
		a, err := c.command(ctx, "/payments/void", cl.IdempotencyKey+"-"+string(t.TransactionID), cl.Licence, transactionRequest{t.TransactionID})
		if err != nil {
			return payment.Outcome{}, err
		}
		if a.Success {
			continue
		}
		if now, err := c.stands(ctx, n, t.TransactionID, fsm.NewsFailed); err != nil || now.Refused {
			return now, err
		}
	}
	return canceled(n.String()), nil
}

func canceled(id string) payment.Outcome {
	return payment.Outcome{News: fsm.NewsFailed, ProviderPaymentID: id, Failure: payment.NewFailure("canceled", "")}
}

// stands asks how a transaction stands whose command was refused. It was not, if that
// already is as the command wants it: an earlier call did it.
func (c *Client) stands(ctx context.Context, n name, id json.Number, wanted fsm.News) (payment.Outcome, error) {
	t, err := c.transaction(ctx, "/payments/get", transactionRequest{id})
	if err != nil {
		return payment.Outcome{}, err
	}
	now, err := n.outcome(t)
	now.Refused = now.News != wanted
	return now, err
}
