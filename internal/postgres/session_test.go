package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/testdb"
)

func TestEverySessionHasLimits(t *testing.T) {
	t.Parallel()
	pool := open(t, testdb.New(t)).Pool()
	for range pool.Config().MaxConns {
		conn, err := pool.Acquire(t.Context())
		require.NoError(t, err)
		defer conn.Release()
		for setting, want := range map[string]string{
			"lock_timeout": "5s", "statement_timeout": "5s", "idle_in_transaction_session_timeout": "5s", "TimeZone": "UTC",
			"transaction_isolation": "read committed",
		} {
			require.Equal(t, want, one[string](t, conn.Conn(), "SHOW "+setting), setting)
		}
	}
}

func TestTheAddressMaySetOtherLimits(t *testing.T) {
	t.Parallel()
	conn, err := open(t, with(t, testdb.New(t), "lock_timeout", "70ms")).Pool().Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	require.Equal(t, "70ms", one[string](t, conn.Conn(), "SHOW lock_timeout"))
	require.Equal(t, "5s", one[string](t, conn.Conn(), "SHOW statement_timeout"))
}

func TestTheAddressSaysHowManyConnectionsThereAre(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]int32{
		"postgres://db/paylatch":                    10,
		"postgres://db/paylatch?pool_max_conns=3":   3,
		"host=db dbname=paylatch pool_max_conns=40": 40,
	} {
		require.Equal(t, want, open(t, address).Pool().Config().MaxConns, address)
	}
}

func TestTheAddressSaysHowLongConnectingMayTake(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]time.Duration{
		"postgres://db/paylatch":                    time.Second,
		"postgres://db/paylatch?connect_timeout=7":  7 * time.Second,
		"host=db dbname=paylatch connect_timeout=3": 3 * time.Second,
	} {
		require.Equal(t, want, open(t, address).Pool().Config().ConnConfig.ConnectTimeout, address)
	}
}

// TestAFrozenTransactionStopsNobody freezes one that holds an order.
func TestAFrozenTransactionStopsNobody(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	frozen, other := open(t, with(t, url, "idle_in_transaction_session_timeout", "200ms")), open(t, url)
	placed(t, other, "o1")
	locked, thaw, thawed := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		thawed <- frozen.InTx(t.Context(), func(ctx context.Context, tx payment.Tx) error {
			if _, err := tx.OrderLock(ctx, "o1"); err != nil {
				return err
			}
			close(locked)
			<-thaw
			return tx.OrderCancel(ctx, "o1")
		})
	}()
	<-locked
	inTx(t, other, func(ctx context.Context, tx payment.Tx) error {
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
	store := open(t, with(t, url, "lock_timeout", "50ms"))
	placed(t, store, "o1")
	tx, err := connect(t, url).Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT FROM orders FOR NO KEY UPDATE")
	require.NoError(t, err)

	begun := time.Now()
	err = store.InTx(t.Context(), func(ctx context.Context, tx payment.Tx) error {
		_, err := tx.OrderLock(ctx, "o1")
		return err
	})
	require.ErrorIs(t, err, payment.ErrUnavailable)
	require.Less(t, time.Since(begun), 5*time.Second)
}
