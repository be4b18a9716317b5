package payment

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/idempotency"
)

// Cancel asks the provider to give a pending attempt up. It is failed once the
// provider says so, and until then pending, also where the provider refuses to. It
// returns ErrAttemptFinal, and else what Confirm returns.
func (s *Service) Cancel(ctx context.Context, actor Actor, req idempotency.Request, id AttemptID) (Reply, error) {
	return s.command(ctx, actor, req, intention{
		attempt: id,
		intent:  cancellationOf,
		met:     Attempt.Failed,
		uses:    func(err error) bool { return errors.Is(err, ErrAttemptFinal) },
		unmet:   paidInstead,
	})
}

// paidInstead refuses a cancellation that came too late. Money that does not fit the
// attempt leaves it pending.
func paidInstead(a Attempt, n News) error {
	if n.News == fsm.NewsSucceeded && mismatch(a, n) == "" {
		return ErrAttemptFinal
	}
	return nil
}

func cancellationOf(a Attempt, _ Order) (Intent, error) {
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
	var wished wishedOrder
	err := s.inTurn(func() (err error) {
		wished, err = s.wishCancelled(ctx, actor, req, id)
		return err
	})
	switch {
	case err != nil:
		return cancelledOrder{}, err
	case wished.replay:
		o, err := s.store.Order(ctx, id)
		return cancelledOrder{o, idempotency.Reused}, err
	}
	o, err := s.giveUpLive(ctx, id, wished.live)
	answer, keep := idempotency.Answer{Status: http.StatusOK, Subject: string(id)}, idempotency.KeepOther
	if errors.Is(err, ErrOrderPaid) {
		answer, keep = req.Refusal(err), idempotency.KeepRefused
	} else if err != nil {
		return cancelledOrder{}, errors.Join(err, s.store.KeyRelease(ctx, req, wished.fence))
	}
	stored := s.patiently(ctx, func(ctx context.Context, b *batch) error { return b.tx.KeyAnswer(ctx, req, wished.fence, answer, keep) })
	switch {
	case errors.Is(stored, idempotency.ErrFenced): // the answer is another runner's by now
		return cancelledOrder{o, idempotency.Reused}, err
	case stored != nil:
		err = stored
	}
	return cancelledOrder{o, idempotency.Created}, err
}

// giveUpLive asks the provider to give up the order's live attempt, which may be
// nil, and returns the order as it is then.
func (s *Service) giveUpLive(ctx context.Context, id OrderID, live *Attempt) (Order, error) {
	if live != nil {
		if a, err := s.await(ctx, *live, s.opts.Wait); err == nil && !a.State.Final() {
			_, err = s.Recheck(ctx, a.ID, Cause{Kind: CauseCheck, ID: "cancel"})
			if err != nil && !errors.Is(err, ErrBusy) {
				return Order{}, err
			}
		}
	}
	o, err := s.store.Order(ctx, id)
	if err == nil && o.Status() == OrderPaid {
		err = ErrOrderPaid
	}
	return o, err
}

// wishedOrder is what came of a wish: a replay, or the live attempt and the fence
// of the key that waits for its answer.
type wishedOrder struct {
	live   *Attempt
	fence  int64
	replay bool
}

// wishCancelled puts the wish on disk, on the order and on its live attempt.
func (s *Service) wishCancelled(ctx context.Context, actor Actor, req idempotency.Request, id OrderID) (wished wishedOrder, err error) {
	err = s.underKey(ctx, req, func(ctx context.Context, tx Tx) error {
		wished = wishedOrder{}
		answer, rec, err := s.takeKey(ctx, tx, req, idempotency.KeepOther)
		if err != nil {
			return err
		}
		wished.fence, wished.replay = rec.Fence, answer != nil
		if wished.replay {
			return nil
		}
		wished.live, err = s.wish(ctx, tx, actor, id, rec)
		return err
	})
	return wished, err
}

// wish writes the wish under the order's lock and returns the order's live attempt.
func (s *Service) wish(ctx context.Context, tx Tx, actor Actor, id OrderID, rec idempotency.Record) (*Attempt, error) {
	o, err := tx.OrderLock(ctx, id)
	switch {
	case errors.Is(err, ErrOrderNotFound):
		return nil, actor.unseenUnder(rec, err)
	case err != nil:
		return nil, err
	case o.UserID != actor.User():
		return nil, ErrForbidden
	case o.Status() == OrderCancelled:
		return nil, nil
	case o.Status() == OrderPaid:
		return nil, &refusal{ErrOrderPaid, rec}
	case o.HoldsMoney() && o.Live() == nil:
		return nil, &refusal{o.lateMoney(), rec}
	}
	live := o.Live()
	if live != nil {
		if err := s.callable(*live); err != nil {
			return nil, err
		}
		if err := markCancelled(ctx, tx, live); err != nil {
			return nil, err
		}
	}
	return live, tx.OrderCancel(ctx, id)
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
	wantCancelled(a, tx.Now())
	return tx.SaveChanges(ctx, []Change{{Attempt: *a, Was: a.Version}})
}

// wantCancelled has a pending attempt cancelled, in the place of a capture that may be
// under way, or made: its amount is kept, and its number is used up.
func wantCancelled(a *Attempt, now time.Time) {
	amount := a.Intent.Amount
	endIntent(a)
	setIntent(a, Intent{Kind: IntentCancel, Amount: amount}, now)
	if !a.leased(now) {
		a.NextCheckAt = &now
	}
}

// obey has attempts cancelled that hold money only now and whose order withholds it. A
// provider may have refused to give them up before: what waits for its customer
// YooKassa, for one, does not cancel.
func (b *batch) obey() {
	for _, c := range b.authorized {
		if a := &c.Attempt; a.State == fsm.Authorized && a.Intent.Kind == IntentNone && b.orders[a.OrderID].withheld(a.ID) != nil {
			wantCancelled(a, b.now())
		}
	}
}
