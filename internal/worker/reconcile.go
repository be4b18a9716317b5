package worker

import (
	"context"
	"errors"
	"sync"
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
		side(ctx, due, func(id payment.AttemptID) {
			v, err := r.Recheck(ctx, id, payment.Cause{Kind: payment.CauseCheck, ID: "reconcile"})
			checked(log.With().Stringer("attempt_id", id).Str("order_id", string(v.OrderID)).Logger(), v.Stage(), err)
		})
		return len(due) == reconcileBatch, nil
	}}
}

// ReconcileRefunds asks providers about the refunds that are due.
func ReconcileRefunds(r Reconciler, every time.Duration, log zerolog.Logger) Loop {
	return Loop{Name: "reconcile refunds", Every: every, Essential: true, Do: func(ctx context.Context) (bool, error) {
		due, err := r.DueRefunds(ctx, reconcileBatch)
		if err != nil {
			return false, err
		}
		side(ctx, due, func(id payment.RefundID) {
			refund, err := r.RecheckRefund(ctx, id, payment.Cause{Kind: payment.CauseCheck, ID: "reconcile"})
			checked(log.With().Stringer("refund_id", id).Str("order_id", string(refund.OrderID)).Logger(), string(refund.State), err)
		})
		return len(due) == reconcileBatch, nil
	}}
}

// side does one thing for each id, a few at a time, until ctx ends: what is not
// begun then is due at the next start.
func side[T any](ctx context.Context, ids []T, do func(T)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, reconcileParallel)
	for _, id := range ids {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() { <-slots }()
			do(id)
		})
	}
	all.Wait()
}

func checked(log zerolog.Logger, state string, err error) {
	switch {
	case errors.Is(err, payment.ErrBusy):
	case err != nil:
		log.Error().Err(err).Msg("check failed")
	default:
		log.Info().Str("state", state).Msg("checked")
	}
}
