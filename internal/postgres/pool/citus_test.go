package pool_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// Citus names the constraints of a part of a table after the part. A worker's error has the name in its message only.
func TestConstraintsOfAPart(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]error{
		"attempts_as_read":                   pool.ErrGuard,
		"attempts_as_read_102008":            pool.ErrGuard,
		"refunds_one_per_provider_id_102177": payment.ErrPaymentTaken,
	} {
		require.ErrorIs(t, pool.DomainError(&pgconn.PgError{Code: "23505", ConstraintName: name}), want, name)
	}
	for message, want := range map[string]error{
		"0 rows instead of 1: attempts_as_read":                                                   pool.ErrGuard,
		`duplicate key value violates unique constraint "refunds_one_per_provider_id_102177"`:     payment.ErrPaymentTaken,
		`doppelter Schlüsselwert verletzt Unique-Constraint »refunds_one_per_provider_id_102177«`: payment.ErrPaymentTaken,
	} {
		require.ErrorIs(t, pool.DomainError(&pgconn.PgError{Code: "23505", Message: message}), want, message)
		require.NotErrorIs(t, pool.DomainError(&pgconn.PgError{Code: "22000", Message: message}), want, message)
	}
	for _, name := range []string{"attempts_as_read_1", "attempts_as_read102008", "102008", ""} {
		err := pool.DomainError(&pgconn.PgError{Code: "23505", ConstraintName: name})
		require.NotErrorIs(t, err, pool.ErrGuard, name)
	}
}

// Citus has no plans for any values: its addresses have plan_cache_mode=auto.
func TestTheAddressSaysHowStatementsArePlanned(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	for address, want := range map[string]string{dsn: "force_generic_plan", testdb.With(t, dsn, "plan_cache_mode", "auto"): "auto"} {
		require.NoError(t, open(t, address).Once(t.Context(), func(ctx context.Context, tx *pipeline.Tx) error {
			var planned, sequential string
			err := tx.QueryRow(ctx, "SELECT current_setting('plan_cache_mode'), current_setting('enable_seqscan')").Scan(&planned, &sequential)
			require.Equal(t, want, planned)
			require.Equal(t, "off", sequential)
			return err
		}))
	}
}
