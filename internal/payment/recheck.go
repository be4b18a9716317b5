package payment

import (
	"context"
	"time"
)

// ResendWindow is how long after a pay its charge may be sent again, at the most.
const ResendWindow = youth

const (
	// youth is how long the person may still be at the page: past it nothing is
	// sent that could move money.
	youth = 10 * time.Minute
	// giveUpLeases is how many leases must have passed, since anything could last
	// have been sent, before "the provider never heard of it" is believed.
	giveUpLeases = 10
)

// sendable is how long what takes or moves money may be sent again: while it is young, and
// as long as the provider knows its key.
func (c Capabilities) sendable() time.Duration { return min(youth, c.KeyLife) }

// Recheck asks the provider how an attempt stands and applies the answer. It is
// what the reconciler, a client's retry after a death, and support call. It
// returns ErrBusy while another runner speaks with the provider. A final attempt
// is returned as it is, unless somebody says that it holds money all the same.
func (s *Service) Recheck(ctx context.Context, id AttemptID, cause Cause) (View, error) {
	return s.recheck(ctx, id, cause, Method{})
}

// recheck is Recheck with what the attempt's own request has brought again to pay with; or
// without.
func (s *Service) recheck(ctx context.Context, id AttemptID, cause Cause, m Method) (View, error) {
	ctx = context.WithoutCancel(ctx)
	licence := s.licence()
	a, err := s.takeOver(ctx, id)
	if err != nil {
		return View{}, err
	}
	a.method = m
	account, ok := s.account(a.Account)
	switch {
	case a.State.Final() && a.NextCheckAt == nil:
		return s.show(ctx, a)
	case !ok || account.Provider == nil:
		return s.settle(ctx, a, News{})
	}
	news := s.ask(ctx, account.Provider, a, licence)
	if news.Cause.Kind != CauseCall {
		news.Cause = cause
	}
	return s.settle(ctx, a, news)
}

// DueAccounts lists accounts whose provider should be asked about something now.
func (s *Service) DueAccounts(ctx context.Context) ([]string, error) { return s.store.DueAccounts(ctx) }

// Due lists attempts of an account that its provider should be asked about now.
func (s *Service) Due(ctx context.Context, account string, limit int) ([]AttemptID, error) {
	return s.store.DueAttempts(ctx, account, limit)
}

// takeOver gives the attempt's fence to this runner, if no other has it.
func (s *Service) takeOver(ctx context.Context, id AttemptID) (Attempt, error) {
	var a Attempt
	err := s.store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		var o Order
		var err error
		a, o, err = tx.AttemptLockBeside(ctx, id)
		switch {
		case err != nil:
			return err
		case a.State.Final() && a.NextCheckAt == nil:
			return nil
		case a.leased(tx.Now()):
			return ErrBusy
		}
		if a.ProviderPaymentID == "" && !a.State.Final() {
			if a.SealedToken, err = tx.SealedToken(ctx, id); err != nil {
				return err
			}
		}
		return s.lease(ctx, tx, &a, o)
	})
	return a, err
}

// lease gives a locked attempt to this runner, as far as its order permits, and says so
// on disk.
func (s *Service) lease(ctx context.Context, tx Tx, a *Attempt, o Order) error {
	permit(a, o, tx.Now())
	end := tx.Now().Add(s.opts.Lease)
	a.Fence++
	a.LeaseUntil, a.NextCheckAt = &end, &end
	return tx.SaveChanges(ctx, []Change{{Attempt: *a, Was: a.Version}})
}
