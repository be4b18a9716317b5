package tbank

import (
	"context"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Capture implements gateway.Provider ("Confirm"). The bank releases the uncaptured rest. The response does not contain
// the captured amount, so the outcome has the requested amount.
func (c *Client) Capture(ctx context.Context, cp gateway.Capture) (gateway.Outcome, error) {
	if err := c.sells(cp.Money); err != nil {
		return gateway.Outcome{}, err
	}
	request := request{PaymentID: cp.ProviderPaymentID, Amount: cp.Money.Minor, Receipt: c.receiptOf(cp.Receipt)}
	a, err := c.command(ctx, "Confirm", request, cp.Permit)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case !a.Success:
		return c.stands(ctx, cp.ProviderPaymentID, a, fsm.EventSucceeded)
	}
	a.Amount = &cp.Money.Minor
	return c.outcome(a)
}

// Cancel implements gateway.Provider. The bank's Cancel cancels an unpaid payment and refunds a paid payment, so Cancel
// first looks the payment up. If the customer pays between the two calls, the bank returns the money. The payment then
// has failed, and its movements are the capture and the capture's reversal.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	id := cl.ProviderPaymentID
	now, err := c.command(ctx, "GetState", request{PaymentID: id}, cl.Permit)
	if err != nil {
		return gateway.Outcome{}, err
	}
	switch stands := standing(now.Status); {
	case now.missing():
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	case now.Status == "":
		return gateway.Outcome{}, now.said()
	case stands == fsm.EventFailed, stands == fsm.EventSucceeded, underWay[now.Status] == fsm.EventSucceeded:
		o, err := c.outcome(now)
		o.Refused = stands != fsm.EventFailed
		return o, err
	}
	return c.giveUp(ctx, cl)
}

func (c *Client) giveUp(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	a, err := c.command(ctx, "Cancel", request{PaymentID: cl.ProviderPaymentID, ExternalRequestID: cl.IdempotencyKey}, cl.Permit)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case !a.Success:
		return c.stands(ctx, cl.ProviderPaymentID, a, fsm.EventFailed)
	}
	o, err := c.outcome(a)
	if o.Event == fsm.EventSucceeded && a.Status != "CONFIRMED" {
		o.Event, o.Money, o.Refunds, o.Returned, o.Failure = fsm.EventFailed, nil, nil, false, payment.NewFailure("canceled", a.Status)
		var money payment.Money // none is stated: the whole amount
		if sum := c.money(a.OriginalAmount); sum != nil {
			money = *sum
		}
		o.Movements = []payment.MovementReport{{Kind: payment.MovementCapture, Money: money}, {Kind: payment.MovementCaptureReversal, Money: money}}
	}
	return o, err
}

// stands looks up a payment after a refused command. Refused is not set if the payment has the wanted state or is about
// to have it, because an earlier call then succeeded.
func (c *Client) stands(ctx context.Context, id string, a answer, wanted fsm.Event) (gateway.Outcome, error) {
	switch {
	case a.missing():
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	case !a.definitive():
		return gateway.Outcome{}, a.said()
	}
	now, err := c.state(ctx, id)
	if err != nil {
		return gateway.Outcome{}, err
	}
	o, err := c.outcome(now)
	o.Refused = o.Event != wanted && underWay[now.Status] != wanted
	return o, err
}

// underWay maps the status of a command in progress to the command's result.
var underWay = map[string]fsm.Event{ //nolint:gochecknoglobals // a table
	"CONFIRMING": fsm.EventSucceeded, "CONFIRM_CHECKING": fsm.EventSucceeded, "REVERSING": fsm.EventFailed,
}
