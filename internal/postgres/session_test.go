package postgres_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
)

// TestAFrozenTransactionStopsNobody freezes a transaction that holds an order.
func TestAFrozenTransactionStopsNobody(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	frozen, other := enginetest.Store(t, testdb.With(t, url, "idle_in_transaction_session_timeout", "200ms")), enginetest.Store(t, url)
	placed(t, other, "o1")
	locked, thaw, thawed := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		for has := false; !has; { // a busy machine may lose the transaction before it has the lock
			err := frozen.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
				if _, err := tx.OrderLock(ctx, "o1"); err != nil {
					return err
				}
				has = true
				close(locked)
				<-thaw
				return tx.OrderCancel(ctx, "o1", cancelled("o1"))
			})
			if has {
				thawed <- err
			}
		}
	}()
	<-locked
	inTx(t, other, func(ctx context.Context, tx postgres.Tx) error {
		o, err := tx.OrderLock(ctx, "o1")
		require.Nil(t, o.CancelRequestedAt)
		return err
	})
	close(thaw)
	require.ErrorIs(t, <-thawed, payment.ErrUnavailable)
	o, err := other.Order(t.Context(), "o1")
	require.NoError(t, err)
	require.Nil(t, o.CancelRequestedAt, "what was frozen is undone")
}

func TestALockIsNotWaitedForLonger(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	store := enginetest.Store(t, testdb.With(t, url, "lock_timeout", "50ms"))
	placed(t, store, "o1")
	tx, err := testdb.Connect(t, url).Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT FROM orders FOR NO KEY UPDATE")
	require.NoError(t, err)

	inTime(t, func() {
		require.ErrorIs(t, store.InAnyTx(t.Context(), func(ctx context.Context, tx postgres.Tx) error {
			_, err := tx.OrderLock(ctx, "o1")
			return err
		}), payment.ErrUnavailable)
	})
}
