package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
)

func TestWhatIsOverdue(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	store, conn := enginetest.Store(t, dsn), testdb.Connect(t, dsn)
	// hours is how late each is, to the nearest hour.
	hours := func() map[string]float64 {
		overdue, err := store.Overdue(t.Context())
		require.NoError(t, err)
		found := map[string]float64{}
		for what, late := range overdue {
			found[what] = late.Round(time.Hour).Hours()
		}
		return found
	}
	parkedNow := func() int64 {
		n, err := store.ParkedEvents(t.Context())
		require.NoError(t, err)
		return n
	}
	require.Empty(t, hours())
	require.Zero(t, parkedNow())

	placed(t, store, "o1")
	now := time.Now()
	stored(t, store, parked("evt_1", now.Add(2*time.Hour), "x"), parked("evt_2", now.Add(5*time.Hour), "y"), event("evt_3"))
	for _, statement := range []string{
		`UPDATE operations SET next_at = now() - interval '3 hours'`,
		`INSERT INTO operations (order_id, attempt_id, kind, number, account, refund_id, origin, state, next_at, created_at)
			SELECT order_id, attempt_id, 'refund', h, 'account ' || h, gen_random_uuid(), 'request', 'wanted', now() - make_interval(hours => h), now()
			FROM payment_attempts, unnest(ARRAY[4, 7]) h`,
	} {
		_, err := conn.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	require.Equal(t, map[string]float64{"operations": 7, "events": -2}, hours())
	require.EqualValues(t, 2, parkedNow())
}
