package cloudpayments

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

type amountRequest struct {
	TransactionID json.Number `json:"TransactionId"`
	Amount        json.Number `json:"Amount"`
	Data          data        `json:"JsonData,omitempty"`
}

// Capture implements gateway.Provider (https://developers.cloudpayments.ru/#podtverzhdenie-oplaty). CloudPayments
// releases the uncaptured rest. The response does not contain the captured amount, so the outcome has the requested
// amount.
func (c *Client) Capture(ctx context.Context, cp gateway.Capture) (gateway.Outcome, error) {
	amount, err := kit.Decimal(cp.Money)
	if err != nil {
		return gateway.Outcome{}, err
	}
	id, err := transactionOf(cp.ProviderPaymentID)
	if err != nil {
		return gateway.Outcome{}, err
	}
	request := amountRequest{TransactionID: id, Amount: json.Number(amount)}
	if cp.Receipt != nil {
		// The webhook reader uses this data, as it does the charge's data.
		if request.Data, err = c.dataOf(map[string]string{"payment_attempt_id": cp.Attempt.String()}, cp.Receipt, cp.Money); err != nil {
			return gateway.Outcome{}, err
		}
	}
	a, err := c.command(ctx, "/payments/confirm", cp.IdempotencyKey, cp.Permit, request)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case !a.Success:
		_, now, err := c.stands(ctx, id, fsm.EventSucceeded)
		return now, err
	}
	return gateway.Outcome{Event: fsm.EventSucceeded, ProviderPaymentID: cp.ProviderPaymentID, Money: &cp.Money}, nil
}

// Cancel implements gateway.Provider (https://developers.cloudpayments.ru/#otmena-oplaty).
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	if page, ok := parseContainer(cl.Container); ok && cl.ProviderPaymentID == "" {
		return c.close(ctx, page, cl)
	}
	id, err := transactionOf(cl.ProviderPaymentID)
	if err != nil {
		return gateway.Outcome{}, kit.NotSent(err)
	}
	return c.void(ctx, id, cl)
}

// void releases the hold of a transaction. A transaction in 3-D Secure or behind a link can't be voided. It counts as
// cancelled when for a long time no request was sent that takes its money, see mayBePaid.
func (c *Client) void(ctx context.Context, id json.Number, cl gateway.Cancel) (gateway.Outcome, error) {
	a, err := c.command(ctx, "/payments/void", cl.IdempotencyKey, cl.Permit, transactionRequest{id})
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case a.Success:
		return canceled(gateway.Outcome{ProviderPaymentID: string(id)}), nil
	}
	t, now, err := c.stands(ctx, id, fsm.EventFailed)
	life, ends := t.mayBePaid()
	switch {
	case err != nil:
		return now, err
	case t.retriesOnQR() && cl.Quiet < life:
		now.Event, now.PageOpen = fsm.EventSoftFailed, true
		return now, nil
	case now.Event != fsm.EventActionRequired:
		return now, nil
	}
	if ends && cl.Quiet >= life {
		return canceled(gateway.Outcome{ProviderPaymentID: string(id)}), nil
	}
	now.Refused = !ends
	return now, err
}

type orderRequest struct {
	ID string `json:"Id"`
}

// proofLife is our limit for the time that a customer may still be in 3-D Secure after the cancel request. CloudPayments
// documents no time; the protocol's own limit is ten minutes.
const proofLife = 10 * time.Minute

// close cancels an order (https://developers.cloudpayments.ru/#otmena-sozdannogo-scheta), so that its page accepts no
// further payment. It then looks up the last payment on the page. If that payment holds or has taken money, or may still
// do so, it is the outcome, and the page has not failed. A pending payment can't be stopped. If the last payment was
// declined, an earlier payment may exist that no lookup shows.
func (c *Client) close(ctx context.Context, page container, cl gateway.Cancel) (gateway.Outcome, error) {
	a, err := c.command(ctx, "/orders/cancel", cl.IdempotencyKey, cl.Permit, orderRequest{page.order})
	if err != nil {
		return gateway.Outcome{}, err
	}
	last, err := c.transaction(ctx, "/payments/find", invoiceRequest{page.invoice})
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment):
		now := page.unpaid()
		if a.Success {
			return canceled(now), nil
		}
		now.Refused = true
		return now, nil
	case err != nil:
		return gateway.Outcome{}, err
	}
	now, err := page.outcome(last)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case now.Event == fsm.EventFailed:
		return page.closed(now, a.Success && cl.Quiet >= proofLife), nil
	case now.Event == fsm.EventAuthorized:
		return c.release(ctx, page, last, cl)
	}
	now.Refused = now.Event == fsm.EventSucceeded
	return now, nil
}

// closed returns the outcome of a page whose last payment failed: the page has failed with the same reason, once no
// other payment on it can be under way. After a released hold, no other try follows.
func (n container) closed(last gateway.Outcome, over bool) gateway.Outcome {
	now := n.unpaid()
	now.Event, now.Failure, now.PageOpen = fsm.EventFailed, last.Failure, false
	if last.PageOpen && !over {
		now.Event, now.PageOpen = fsm.EventSoftFailed, true
	}
	return now
}

// release voids a hold that was found on a page, which ends the page.
func (c *Client) release(ctx context.Context, page container, held transaction, cl gateway.Cancel) (gateway.Outcome, error) {
	// The order's cancel has used the key itself.
	cl.IdempotencyKey += "-" + string(held.TransactionID)
	now, err := c.void(ctx, held.TransactionID, cl)
	if err != nil || now.Event != fsm.EventFailed {
		now.Container = page.String()
		return now, err
	}
	return canceled(page.unpaid()), nil
}

// canceled returns the outcome of a cancelled payment or page.
func canceled(o gateway.Outcome) gateway.Outcome {
	o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("canceled", "")
	return o
}

// stands looks up a transaction after a refused command. Refused is not set if the transaction has the wanted state,
// because an earlier call then succeeded.
func (c *Client) stands(ctx context.Context, id json.Number, wanted fsm.Event) (transaction, gateway.Outcome, error) {
	t, err := c.transaction(ctx, "/payments/get", transactionRequest{id})
	if err != nil {
		return t, gateway.Outcome{}, err
	}
	now, err := t.outcome()
	now.Refused = now.Event != wanted
	return t, now, err
}
