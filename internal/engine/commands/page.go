package commands

import (
	"context"
	"errors"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
)

// closesPage reports whether an order's live attempt makes way for another pay of its customer. It does if a try was
// declined on the provider's page and the provider can close that page. For an external attempt the caller
// must name it as superseded.
func (c *Commands) closesPage(a payment.Attempt) bool {
	p := c.Runner.AccountOf(a).Provider
	return a.DeclinedOnPage() && a.Origin == payment.OriginPaylatch && p != nil && p.Capabilities().Cancels > payment.CancelsNone
}

// closePage cancels the page at the provider, at once. The attempt fails, with the reason of its last try, only if the
// provider reports that the page is over. A cancel with an open outcome goes on by itself, and the pay is refused with
// InProgressError. A page that was paid meanwhile stays paid, and a page where money may be on hold stays open for a
// customer's pay.
func (c *Commands) closePage(ctx context.Context, id payment.AttemptID, by *payStart) error {
	looked, err := c.lookForHold(ctx, by.actor, id)
	if err != nil {
		return err
	}
	err = c.Store.InCommandTx(ctx, func(ctx context.Context, tx Tx) error {
		a, _, err := tx.AttemptLock(ctx, id)
		if err != nil || !a.DeclinedOnPage() || c.mayRelease(by.actor, looked, a) != nil {
			return err
		}
		s := changeset.New(tx, c.Runner.Rules)
		change := s.Change(a)
		if change.Attempt.OpenCancel() == nil {
			s.EnsureCancel(change, payment.OperationOriginRequest).OriginID = string(by.req.Key)
		}
		return s.Save(ctx)
	})
	if err != nil {
		return err
	}
	_, err = c.Runner.Recheck(ctx, id, payment.Cause{Kind: payment.CauseCheck, ID: "pay"})
	if errors.Is(err, payment.ErrBusy) {
		return nil // another runner has it
	}
	return err
}
