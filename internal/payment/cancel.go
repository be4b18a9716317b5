package payment

import (
	"context"
	"errors"
	"net/http"

	"github.com/paylatch/paylatch/internal/idempotency"
)

// Cancel asks the provider to give a pending attempt up. It is failed once the
// provider says so, and until then pending. It returns ErrAttemptFinal, and else
// what Confirm returns.
func (s *Service) Cancel(ctx context.Context, actor Actor, req idempotency.Request, id AttemptID) (Paid, error) {
	return s.command(ctx, actor, req, intention{
		attempt: id,
		intent:  cancellationOf,
		met:     Attempt.Failed,
		uses:    func(err error) bool { return errors.Is(err, ErrAttemptFinal) },
		unmet:   ErrAttemptFinal,
	})
}

func cancellationOf(a Attempt) (Intent, error) {
	if a.State.Final() {
		return Intent{}, ErrAttemptFinal
	}
	return Intent{Kind: IntentCancel}, nil
}

type cancelledOrder struct {
	Order
	result idempotency.Result
}

// CancelOrder takes no further pay for an order and asks the provider to give up
// its pending attempt. The order is cancelled once that attempt has failed; one
// that succeeds all the same has paid it. It returns ErrOrderPaid, ErrBusy while
// a capture is under way, ErrForbidden, ErrOrderNotFound, and the errors of
// idempotency.Take.
func (s *Service) CancelOrder(ctx context.Context, actor Actor, req idempotency.Request, id OrderID) (Order, idempotency.Result, error) {
	if err := actor.mayAct(); err != nil {
		return Order{}, "", err
	}
	done, shared, err := s.cancels.Do(ctx, req, s.opts.Wait, func() (cancelledOrder, error) {
		return s.cancelOrder(context.WithoutCancel(ctx), actor, req, id)
	})
	if shared {
		done.result = idempotency.Reused
	}
	return done.Order, done.result, err
}

func (s *Service) cancelOrder(ctx context.Context, actor Actor, req idempotency.Request, id OrderID) (cancelledOrder, error) {
	if err := s.opts.Quota.Take(ctx, s.store, req); err != nil {
		return cancelledOrder{}, err
	}
	live, result, err := s.wishCancelled(ctx, actor, req, id)
	if err != nil {
		return cancelledOrder{}, err
	}
	if live != nil {
		if a, err := s.await(ctx, *live, s.opts.Wait); err == nil && !a.State.Final() {
			_, err = s.Recheck(ctx, a.ID, Cause{Kind: CauseCheck, ID: "cancel"})
			if err != nil && !errors.Is(err, ErrBusy) {
				return cancelledOrder{}, err
			}
		}
	}
	o, err := s.store.Order(ctx, id)
	if err == nil && o.Status() == OrderPaid {
		err = ErrOrderPaid
	}
	return cancelledOrder{o, result}, err
}

// wishCancelled puts the wish on disk, on the order and on its live attempt,
// which it returns.
func (s *Service) wishCancelled(ctx context.Context, actor Actor, req idempotency.Request, id OrderID) (*Attempt, idempotency.Result, error) {
	var live *Attempt
	var refused error
	var result idempotency.Result
	err := s.store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		live, refused, result = nil, nil, idempotency.Created
		answer, rec, err := idempotency.Take(ctx, tx, idempotency.Claim{Request: req, Lease: s.opts.Lease, Keep: idempotency.KeepOther})
		if err != nil {
			return err
		}
		if answer != nil && answer.Status >= http.StatusBadRequest {
			return &idempotency.ReplayError{Answer: *answer}
		}
		if answer != nil {
			result = idempotency.Reused
			return nil
		}
		live, refused, err = wish(ctx, tx, actor, id)
		switch {
		case err != nil:
			return err
		case refused != nil:
			return refuse(ctx, tx, req, rec, refused)
		}
		return tx.KeyAnswer(ctx, req, rec.Fence, idempotency.Answer{Status: http.StatusOK, Subject: string(id)}, idempotency.KeepOther)
	})
	if err == nil {
		err = refused
	}
	return live, result, err
}

// wish writes the wish under the order's lock, or returns the refusal that the
// key is to be answered with.
func wish(ctx context.Context, tx Tx, actor Actor, id OrderID) (live *Attempt, refused, err error) {
	o, err := tx.OrderLock(ctx, id)
	switch {
	case errors.Is(err, ErrOrderNotFound):
		return nil, err, nil
	case err != nil:
		return nil, nil, err
	case o.UserID != actor.User():
		return nil, nil, ErrForbidden
	case o.Status() == OrderPaid || o.HoldsMoney() && o.Live() == nil:
		return nil, ErrOrderPaid, nil
	}
	if live = o.Live(); live != nil {
		if err := markCancelled(ctx, tx, live); err != nil {
			return nil, nil, err
		}
	}
	return live, nil, tx.OrderCancel(ctx, id)
}

// markCancelled writes the wish on an attempt, whoever holds its lease: the
// holder's next look obeys it.
func markCancelled(ctx context.Context, tx Tx, a *Attempt) error {
	switch a.Intent.Kind {
	case IntentCancel:
		return nil
	case IntentCapture:
		return ErrBusy
	case IntentNone:
	}
	now := tx.Now()
	setIntent(a, Intent{Kind: IntentCancel}, now)
	if !a.leased(now) {
		a.NextCheckAt = &now
	}
	return tx.SaveChanges(ctx, []Change{{Attempt: *a, Was: a.Version}})
}
