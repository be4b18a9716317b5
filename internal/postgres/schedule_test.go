package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/testdb"
)

// unscheduled counts attempts that nobody would look at in time.
const unscheduled = `SELECT count(*) FROM payment_attempts a WHERE next_check_at IS NOT NULL
	AND NOT EXISTS (SELECT FROM attempt_checks c WHERE c.attempt_id = a.attempt_id AND c.due_at <= a.next_check_at)`

// TestTheScheduleForgetsNothing moves the checks of a few attempts to and fro, to
// the past, to the future and away, while two sweep.
func TestTheScheduleForgetsNothing(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	store, conn := open(t, dsn), connect(t, dsn)
	var ids []payment.AttemptID
	for i := range 8 {
		ids = append(ids, placed(t, store, payment.OrderID(fmt.Sprint("o", i))).ID)
	}
	_, err := conn.Exec(t.Context(), `ALTER TABLE payment_attempts DROP CONSTRAINT attempts_pending_is_watched`)
	require.NoError(t, err)

	var moving, sweeping sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for range 2 {
		sweeping.Go(func() {
			for ctx.Err() == nil {
				_, err := store.DueAttempts(t.Context(), "acc", 64)
				require.NoError(t, err)
			}
		})
	}
	for range 4 {
		mover := connect(t, dsn)
		moving.Go(func() {
			for range 500 {
				_, err := mover.Exec(t.Context(), `UPDATE payment_attempts SET next_check_at = now() + make_interval(secs => $2) WHERE attempt_id = $1`,
					ids[rand.N(len(ids))].String(), []any{nil, -1, -0.001, 0, 0.001, 0.01, 60}[rand.N(7)])
				require.NoError(t, err)
			}
		})
	}
	moving.Wait()
	stop()
	sweeping.Wait()
	require.Zero(t, one[int](t, conn, unscheduled))

	// Nothing gathers, either: what nobody waits for goes, and one entry stays for
	// the others.
	_, err = conn.Exec(t.Context(), `UPDATE payment_attempts SET next_check_at = CASE WHEN order_id < 'o4' THEN now() + interval '1 hour' END;
		UPDATE attempt_checks SET due_at = now() - interval '1 minute'`)
	require.NoError(t, err)
	due, err := store.DueAttempts(t.Context(), "acc", 64)
	require.NoError(t, err)
	require.Empty(t, due)
	require.Equal(t, 4, one[int](t, conn, `SELECT count(*) FROM attempt_checks`))
	require.Zero(t, one[int](t, conn, unscheduled))
}

// TestWhatIsDueIsFoundBehindWhatIsNot has more entries of attempts that became
// final than one look takes in, all older than the one that counts.
func TestWhatIsDueIsFoundBehindWhatIsNot(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	store, conn := open(t, dsn), connect(t, dsn)
	a := placed(t, store, "o1")
	_, err := conn.Exec(t.Context(), `INSERT INTO attempt_checks SELECT '2020-01-01', gen_random_uuid(), 'acc' FROM generate_series(1, 20000)`)
	require.NoError(t, err)
	due, err := store.DueAttempts(t.Context(), "acc", 64)
	require.NoError(t, err)
	require.Equal(t, []payment.AttemptID{a.ID}, due)
	require.Equal(t, 1, one[int](t, conn, `SELECT count(*) FROM attempt_checks`))
}

// TestNewsStaysInItsPage counts updates that left the indexes alone.
func TestNewsStaysInItsPage(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	a, conn := placed(t, open(t, dsn), "o1"), connect(t, dsn)
	at := time.Now()
	write := func(tx pgx.Tx, version int32, status, stage string, next, end time.Time) int64 {
		require.NoError(t, dbsqlc.New().AttemptsAdvance(t.Context(), tx, &dbsqlc.AttemptsAdvanceParams{
			OrderIds: []string{"o1"}, AttemptIds: []uuid.UUID{uuid.UUID(a.ID)}, Was: []int32{version - 1}, Versions: []int32{version},
			ProviderPaymentIds: []string{"ch_1"}, Statuses: []string{status}, Stages: []string{stage},
			Authorized: []int64{1000}, Captured: []int64{1000}, Reversed: []int64{0}, Disputed: []int64{0}, Movements: []int32{0}, Refunded: []int64{0},
			NextActionUrls: []string{"https://provider.example"}, FailureCodes: []string{""}, FailureMessages: []string{""}, FailureProviderCodes: []string{""},
			Intents: []string{"capture"}, IntentAmounts: []int64{5}, IntentNumbers: []int32{1}, IntentAts: []time.Time{at},
			Fences: []int64{int64(version)}, LeaseUntils: []time.Time{at}, Checks: []int32{version}, NextCheckAts: []time.Time{next},
			UpdatedAts: []time.Time{at}, FinalizedAts: []time.Time{end},
		}))
		return one[int64](t, conn, `SELECT pg_stat_get_xact_tuples_hot_updated('payment_attempts'::regclass)`)
	}
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, write(tx, 2, "pending", "processing", at.Add(time.Hour), time.Time{}))
	require.EqualValues(t, 2, write(tx, 3, "pending", "authorized", at, time.Time{}))
	require.EqualValues(t, 3, write(tx, 4, "succeeded", "final", time.Time{}, at))
}
