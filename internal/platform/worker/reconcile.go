package worker

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/tracing"
)

const (
	reconcileBatch    = 64
	reconcileParallel = 8
)

// Reconciler executes due operations.
type Reconciler interface {
	DueAccounts(ctx context.Context) ([]string, error)
	Due(ctx context.Context, account string, limit int) ([]payment.OperationName, error)
	Execute(ctx context.Context, name payment.OperationName, cause payment.Cause) (payment.Attempt, error)
}

// Reconcile carries out the operations that are due, account by account and portion by portion. A portion without
// progress waits for the next run.
func Reconcile(r Reconciler, every time.Duration, log zerolog.Logger) Loop {
	execute := func(ctx context.Context, name payment.OperationName) bool {
		var a payment.Attempt
		ctx, span := tracing.Begin(ctx, "reconcile", tracing.Internal, tracing.Of{Attempt: name.AttemptID, Kind: string(name.Kind)})
		err := caught(func() (err error) {
			a, err = r.Execute(ctx, name, payment.Cause{Kind: payment.CauseCheck, ID: "reconcile"})
			return err
		})
		span.End(a.Stage(), err != nil)
		fields := log.With().Stringer("attempt_id", name.AttemptID).Str("order_id", string(a.OrderID)).
			Str("operation", string(name.Kind)).Int("number", name.Number)
		return executed(inSpan(fields, span.Context()).Logger(), a.Stage(), err)
	}
	accounts := newByAccount(func(ctx context.Context, account string) error {
		for {
			due, err := r.Due(ctx, account, reconcileBatch)
			if err != nil || !side(ctx, due, execute) || len(due) < reconcileBatch {
				return err
			}
		}
	})
	return Loop{Name: "reconcile", Every: every, Essential: true, Rest: accounts.all.Wait, Do: func(ctx context.Context) (bool, error) {
		due, err := r.DueAccounts(ctx)
		accounts.begin(ctx, due)
		return false, errors.Join(err, accounts.failed())
	}}
}

// side runs do for each operation, a few at a time, until ctx ends. Operations that were not begun then are due at the
// next start. It reports whether any operation was done. The others stay due, and may fill the whole next portion.
func side(ctx context.Context, due []payment.OperationName, do func(context.Context, payment.OperationName) bool) bool {
	var all sync.WaitGroup
	var some atomic.Bool
	slots := make(chan struct{}, reconcileParallel)
	for _, name := range due {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() { <-slots }()
			if do(ctx, name) {
				some.Store(true)
			}
		})
	}
	all.Wait()
	return some.Load()
}

// executed logs the outcome of an operation, and reports whether this operation, or another operation of its attempt,
// was executed.
func executed(log zerolog.Logger, state string, err error) bool {
	switch {
	case errors.Is(err, payment.ErrBusy):
	case err != nil:
		log.Error().Err(err).Msg("an operation failed")
		return false
	default:
		log.Info().Str("state", state).Msg("executed")
	}
	return true
}
