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

// Reconciler is what the reconcile loop needs of package payment.
type Reconciler interface {
	Due(ctx context.Context, limit int) ([]payment.AttemptID, error)
	Recheck(ctx context.Context, id payment.AttemptID, cause payment.Cause) (payment.View, error)
	DueRefunds(ctx context.Context, limit int) ([]payment.RefundID, error)
	RecheckRefund(ctx context.Context, id payment.RefundID, cause payment.Cause) (payment.Refund, error)
}

// Reconcile asks providers about the attempts that are due.
func Reconcile(r Reconciler, every time.Duration, log zerolog.Logger) Loop {
	return Loop{Name: "reconcile", Every: every, Essential: true, Do: func(ctx context.Context) (bool, error) {
		due, err := r.Due(ctx, reconcileBatch)
		if err != nil {
			return false, err
		}
		some := side(ctx, due, func(id payment.AttemptID) bool {
			v, err := r.Recheck(ctx, id, payment.Cause{Kind: payment.CauseCheck, ID: "reconcile"})
			return checked(log.With().Stringer("attempt_id", id).Str("order_id", string(v.OrderID)).Logger(), v.Stage(), err)
		})
		return some && len(due) == reconcileBatch, nil
	}}
}

// ReconcileRefunds asks providers about the refunds that are due.
func ReconcileRefunds(r Reconciler, every time.Duration, log zerolog.Logger) Loop {
	return Loop{Name: "reconcile refunds", Every: every, Essential: true, Do: func(ctx context.Context) (bool, error) {
		due, err := r.DueRefunds(ctx, reconcileBatch)
		if err != nil {
			return false, err
		}
		some := side(ctx, due, func(id payment.RefundID) bool {
			refund, err := r.RecheckRefund(ctx, id, payment.Cause{Kind: payment.CauseCheck, ID: "reconcile"})
			return checked(log.With().Stringer("refund_id", id).Str("order_id", string(refund.OrderID)).Logger(), string(refund.State), err)
		})
		return some && len(due) == reconcileBatch, nil
	}}
}

// side does one thing for each id, a few at a time, until ctx ends: what is not
// begun then is due at the next start. It reports whether any was done: what was not
// stays due, and may be all that the next portion has.
func side[T any](ctx context.Context, ids []T, do func(T) bool) bool {
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
			if do(id) {
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
