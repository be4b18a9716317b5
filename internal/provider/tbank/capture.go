package tbank

import (
	"context"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// Capture implements payment.Provider ("Confirm"). What is not captured is
// released. The answer does not say how much was taken: what was asked for.
func (c *Client) Capture(ctx context.Context, cp payment.Capture) (payment.Outcome, error) {
	if err := c.sells(cp.Money); err != nil {
		return payment.Outcome{}, err
	}
	a, err := c.command(ctx, "Confirm", request{PaymentID: cp.ProviderPaymentID, Amount: cp.Money.Minor}, cp.Licence)
	switch {
	case err != nil:
		return payment.Outcome{}, err
	case !a.Success:
		return c.stands(ctx, cp.ProviderPaymentID, a, fsm.NewsSucceeded)
	}
	a.Amount = &cp.Money.Minor
	return c.outcome(a)
}

// Cancel implements payment.Provider. The bank's Cancel gives up what is not paid
// and pays back what is: so how the payment stands is asked first. Should it be
// paid between the two, the money goes back, and that is said.
func (c *Client) Cancel(ctx context.Context, cl payment.Cancel) (payment.Outcome, error) {
	id := cl.ProviderPaymentID
	now, err := c.command(ctx, "GetState", request{PaymentID: id}, cl.Licence)
	if err != nil {
		return payment.Outcome{}, err
	}
	switch stands := news(now.Status); {
	case now.missing():
		return payment.Outcome{}, payment.ErrNoSuchPayment
	case now.Status == "":
		return payment.Outcome{}, now.said()
	case stands == fsm.NewsFailed, stands == fsm.NewsSucceeded, underWay[now.Status] == fsm.NewsSucceeded:
		o, err := c.outcome(now)
		o.Refused = stands != fsm.NewsFailed
		return o, err
	}
	return c.giveUp(ctx, cl)
}

func (c *Client) giveUp(ctx context.Context, cl payment.Cancel) (payment.Outcome, error) {
	a, err := c.command(ctx, "Cancel", request{PaymentID: cl.ProviderPaymentID, ExternalRequestID: cl.IdempotencyKey}, cl.Licence)
	switch {
	case err != nil:
		return payment.Outcome{}, err
	case !a.Success:
		return c.stands(ctx, cl.ProviderPaymentID, a, fsm.NewsFailed)
	}
	o, err := c.outcome(a)
	if o.News == fsm.NewsSucceeded && a.Status != "CONFIRMED" {
		o.News, o.Money = fsm.NewsReversed, c.money(a.OriginalAmount)
	}
	return o, err
}

// stands asks how a payment stands whose command was refused. It was not, if the
// payment already is as the command wants it, or about to be: an earlier call did it.
func (c *Client) stands(ctx context.Context, id string, a answer, wanted fsm.News) (payment.Outcome, error) {
	switch {
	case a.missing():
		return payment.Outcome{}, payment.ErrNoSuchPayment
	case !a.definitive():
		return payment.Outcome{}, a.said()
	}
	now, err := c.state(ctx, id)
	if err != nil {
		return payment.Outcome{}, err
	}
	o, err := c.outcome(now)
	o.Refused = o.News != wanted && underWay[now.Status] != wanted
	return o, err
}

// underWay are statuses of a command that is being carried out, by what it wants.
var underWay = map[string]fsm.News{ //nolint:gochecknoglobals // a table
	"CONFIRMING": fsm.NewsSucceeded, "CONFIRM_CHECKING": fsm.NewsSucceeded, "REVERSING": fsm.NewsFailed,
}
