package cloudpayments

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

type amountRequest struct {
	TransactionID json.Number `json:"TransactionId"`
	Amount        json.Number `json:"Amount"`
	Data          data        `json:"JsonData,omitempty"`
}

// Capture implements gateway.Provider
// (https://developers.cloudpayments.ru/#podtverzhdenie-oplaty). The uncaptured rest is
// released. The response does not contain the captured amount: it is the requested one.
// A page with a captured payment is not captured again.
func (c *Client) Capture(ctx context.Context, cp gateway.Capture) (gateway.Outcome, error) {
	amount, err := call.Decimal(cp.Money)
	if err != nil {
		return gateway.Outcome{}, err
	}
	n, err := parseName(cp.ProviderPaymentID)
	if err != nil {
		return gateway.Outcome{}, err
	}
	held := transaction{TransactionID: n.transaction}
	if n.order != "" {
		all, err := c.tries(ctx, n, cp.Transactions)
		if err != nil {
			return gateway.Outcome{}, call.NotSent(err)
		}
		if taken, err := all.with("Completed"); err == nil {
			return n.outcome(taken)
		}
		if held, err = all.with("Authorized"); err != nil {
			return gateway.Outcome{}, err
		}
	}
	request := amountRequest{TransactionID: held.TransactionID, Amount: json.Number(amount)}
	if cp.Receipt != nil {
		// Read by the webhooks' adapter, as that of the charge.
		if request.Data, err = c.dataOf(map[string]string{"payment_attempt_id": cp.Attempt.String()}, cp.Receipt, cp.Money); err != nil {
			return gateway.Outcome{}, err
		}
	}
	a, err := c.command(ctx, "/payments/confirm", cp.IdempotencyKey, cp.Permit, request)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case !a.Success:
		return c.stands(ctx, n, held.TransactionID, fsm.NewsSucceeded)
	}
	return gateway.Outcome{News: fsm.NewsSucceeded, ProviderPaymentID: cp.ProviderPaymentID, Money: &cp.Money}, nil
}

// Cancel implements gateway.Provider (https://developers.cloudpayments.ru/#otmena-oplaty).
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	n, err := parseName(cl.ProviderPaymentID)
	if err != nil {
		return gateway.Outcome{}, call.NotSent(err)
	}
	if n.order != "" {
		return c.close(ctx, n, cl)
	}
	a, err := c.command(ctx, "/payments/void", cl.IdempotencyKey, cl.Permit, transactionRequest{n.transaction})
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case !a.Success:
		return c.unvoided(ctx, n, cl)
	}
	return canceled(cl.ProviderPaymentID), nil
}

// unvoided looks up a transaction that was not voided. One in 3-D Secure can only be waited for: it is over
// when nothing was sent for long that would end its 3-D Secure, and with it take the money.
func (c *Client) unvoided(ctx context.Context, n name, cl gateway.Cancel) (gateway.Outcome, error) {
	now, err := c.stands(ctx, n, n.transaction, fsm.NewsFailed)
	if now.News != fsm.NewsActionRequired {
		return now, err
	}
	if cl.Quiet >= proofLife {
		return canceled(cl.ProviderPaymentID), nil
	}
	now.Refused = false
	return now, err
}

type orderRequest struct {
	ID string `json:"Id"`
}

// proofLife is how long a customer may still be in 3-D Secure after the cancel was
// requested. CloudPayments documents no time; the protocol's own is ten minutes.
const proofLife = 10 * time.Minute

// close cancels an order
// (https://developers.cloudpayments.ru/#otmena-sozdannogo-scheta), so that its page
// accepts no further payment, and then handles those made there. A pending one can't be
// stopped, only waited for: before a last, declined one there may be one without a
// lookup.
func (c *Client) close(ctx context.Context, n name, cl gateway.Cancel) (gateway.Outcome, error) {
	a, err := c.command(ctx, "/orders/cancel", cl.IdempotencyKey, cl.Permit, orderRequest{n.order})
	if err != nil {
		return gateway.Outcome{}, err
	}
	all, err := c.tries(ctx, n, cl.Transactions)
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment) && a.Success:
		return canceled(n.String()), nil
	case errors.Is(err, gateway.ErrNoSuchPayment):
		now := unpaid(n)
		now.Refused = true
		return now, nil
	case err != nil:
		return gateway.Outcome{}, err
	}
	now, err := all.outcome(n)
	switch {
	case now.News == fsm.NewsSoftFailed && a.Success && cl.Quiet >= proofLife:
		now.News, now.PageOpen = fsm.NewsFailed, false
	case now.News == fsm.NewsAuthorized:
		return c.release(ctx, n, all, cl)
	case now.News == fsm.NewsSucceeded:
		now.Refused = true
	}
	return now, err
}

// release voids all authorized transactions of a page.
func (c *Client) release(ctx context.Context, n name, all tries, cl gateway.Cancel) (gateway.Outcome, error) {
	for _, t := range all {
		if t.Status != "Authorized" {
			continue
		}
		// The order's request has used the key itself.
		a, err := c.command(ctx, "/payments/void", cl.IdempotencyKey+"-"+string(t.TransactionID), cl.Permit, transactionRequest{t.TransactionID})
		if err != nil {
			return gateway.Outcome{}, err
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

func canceled(id string) gateway.Outcome {
	return gateway.Outcome{News: fsm.NewsFailed, ProviderPaymentID: id, Failure: payment.NewFailure("canceled", "")}
}

// stands looks up a transaction after a refused command. Refused is not set if the
// transaction has the wanted state: an earlier call did it.
func (c *Client) stands(ctx context.Context, n name, id json.Number, wanted fsm.News) (gateway.Outcome, error) {
	t, err := c.transaction(ctx, "/payments/get", transactionRequest{id})
	if err != nil {
		return gateway.Outcome{}, err
	}
	now, err := n.outcome(t)
	now.Refused = now.News != wanted
	return now, err
}
