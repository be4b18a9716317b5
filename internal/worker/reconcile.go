package worker

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/payment"
)

const (
	reconcileBatch    = 64
	reconcileParallel = 8
)

// Reconciler is what the reconcile loops need of package payment.
type Reconciler interface {
	DueAccounts(ctx context.Context) ([]string, error)
	Due(ctx context.Context, account string, limit int) ([]payment.AttemptID, error)
	Recheck(ctx context.Context, id payment.AttemptID, cause payment.Cause) (payment.View, error)
	DueRefunds(ctx context.Context, account string, limit int) ([]payment.RefundID, error)
	RecheckRefund(ctx context.Context, id payment.RefundID, cause payment.Cause) (payment.Refund, error)
}

// Reconcile checks the attempts that are due.
func Reconcile(r Reconciler, every time.Duration, log zerolog.Logger) Loop {
	return reconcile("reconcile", r, every, r.Due, func(ctx context.Context, id payment.AttemptID) bool {
		var v payment.View
		err := caught(func() (err error) {
			v, err = r.Recheck(ctx, id, payment.Cause{Kind: payment.CauseCheck, ID: "reconcile"})
			return err
		})
		return checked(log.With().Stringer("attempt_id", id).Str("order_id", string(v.OrderID)).Logger(), v.Stage(), err)
	})
}

// ReconcileRefunds checks the refunds that are due.
func ReconcileRefunds(r Reconciler, every time.Duration, log zerolog.Logger) Loop {
	return reconcile("reconcile refunds", r, every, r.DueRefunds, func(ctx context.Context, id payment.RefundID) bool {
		var refund payment.Refund
		err := caught(func() (err error) {
			refund, err = r.RecheckRefund(ctx, id, payment.Cause{Kind: payment.CauseCheck, ID: "reconcile"})
			return err
		})
		return checked(log.With().Stringer("refund_id", id).Str("order_id", string(refund.OrderID)).Logger(), string(refund.State), err)
	})
}

// reconcile does what is due of each account, portion by portion, until there is no
// more. A portion of which nothing could be done waits for the next turn.
func reconcile[T any](
	name string, r Reconciler, every time.Duration,
	list func(ctx context.Context, account string, limit int) ([]T, error), do func(ctx context.Context, id T) bool,
) Loop {
	accounts := newByAccount(func(ctx context.Context, account string) error {
		for {
			due, err := list(ctx, account, reconcileBatch)
			if err != nil || !side(ctx, due, do) || len(due) < reconcileBatch {
				return err
			}
		}
	})
	return Loop{Name: name, Every: every, Essential: true, Rest: accounts.all.Wait, Do: func(ctx context.Context) (bool, error) {
		due, err := r.DueAccounts(ctx)
		accounts.begin(ctx, due)
		return false, errors.Join(err, accounts.failed())
	}}
}

// side does one thing for each id, a few at a time, until ctx ends: what is not
// begun then is due at the next start. It reports whether any was done: what was not
// stays due, and may be all that the next portion has.
func side[T any](ctx context.Context, ids []T, do func(context.Context, T) bool) bool {
	var all sync.WaitGroup
	var some atomic.Bool
	slots := make(chan struct{}, reconcileParallel)
	for _, id := range ids {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() { <-slots }()
			if do(ctx, id) {
				some.Store(true)
			}
		})
	}
	all.Wait()
	return some.Load()
}

// checked logs what a check came to, and reports whether it, or another one, was made.
func checked(log zerolog.Logger, state string, err error) bool {
	switch {
	case errors.Is(err, payment.ErrBusy):
	case err != nil:
		log.Error().Err(err).Msg("check failed")
		return false
	default:
		log.Info().Str("state", state).Msg("checked")
	}
	return true
}
