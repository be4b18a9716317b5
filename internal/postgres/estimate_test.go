package postgres_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/postgres"
)

func TestKeysAreCountedUntilThereAreStatistics(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	store, conn := enginetest.Store(t, dsn), testdb.Connect(t, dsn)
	estimate := func() int64 {
		n, err := store.KeysEstimate(t.Context())
		require.NoError(t, err)
		return n
	}
	require.Zero(t, estimate())
	for i := range 3 {
		r := command
		r.Key = idempotency.Key("key-0000000" + strconv.Itoa(i))
		inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
			_, _, err := tx.KeyClaim(ctx, idempotency.Claim{Request: r, Lease: time.Hour, Keep: time.Hour})
			return err
		})
	}
	require.EqualValues(t, 3, estimate())
	_, err := conn.Exec(t.Context(), `ANALYZE idempotency_keys`)
	require.NoError(t, err)
	require.EqualValues(t, 3, estimate())
	_, err = conn.Exec(t.Context(), `DELETE FROM idempotency_keys`)
	require.NoError(t, err)
	require.EqualValues(t, 3, estimate(), "from the statistics")
}
