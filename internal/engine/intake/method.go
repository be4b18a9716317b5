package intake

import (
	"context"
	"errors"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// fetchMethod looks up the stored payment method of a parked event whose names are only hints. The event counts if the provider has no
// such method any more. A method that is still there was not removed: the event is ignored.
func (in *Inbox) fetchMethod(ctx context.Context, e payment.StoredEvent) error {
	if !in.canAsk(e.ReceivedEvent) {
		return nil
	}
	called, cancel := context.WithTimeout(ctx, in.ProviderTimeout)
	defer cancel()
	err := in.Accounts.Get(e.Account).Provider.CheckOwner(called, e.Event.Method.Tokens[0], "")
	gone := errors.Is(err, gateway.ErrNoSuchPayment)
	switch {
	case ctx.Err() != nil, errors.Is(err, gateway.ErrThrottled):
		return nil
	case err != nil && !gone && !errors.Is(err, payment.ErrMethodNotYours):
		return in.unanswered(ctx, e.ID, false)
	}
	return changeset.Run(ctx, in.Store.InEventTx, in.Rules, func(ctx context.Context, s *changeset.Changeset, tx Tx) error {
		stored, err := tx.EventLock(ctx, e.ID)
		if err != nil || stored.NextTryAt == nil {
			return err
		}
		if err := s.LoadNamed(ctx, changeset.NamesOf(stored.ReceivedEvent, false)); err != nil {
			return err
		}
		stored.Tries++
		stored.Verdict, stored.NextTryAt = payment.Ignored, nil
		if gone {
			s.ApplyMethod(&stored)
		}
		if err := tx.EventsSettle(ctx, []payment.StoredEvent{stored}); err != nil {
			return err
		}
		return s.Save(ctx)
	})
}
