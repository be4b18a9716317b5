package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/ledger/recheck"
	"github.com/paylatch/paylatch/internal/payment"
)

// The delay of an account's lookups is the delay of its latest cursor, as long as some process takes turns.
func TestFinalLookupsBehind(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	store, conn := enginetest.Store(t, dsn), testdb.Connect(t, dsn)
	const day = 24 * time.Hour
	at := func(ago time.Duration) payment.AttemptID {
		return payment.AttemptID(payment.OnlyCell.NewIDAt(time.Now().Add(-ago)))
	}
	begin := func(account string, cursors ...recheck.Cursor) {
		taken, _, err := store.CursorsTake(t.Context(), account, cursors, time.Minute)
		require.NoError(t, err)
		require.Len(t, taken, len(cursors))
	}
	begin("on time", recheck.Cursor{Age: day, After: at(day)})
	begin("late", recheck.Cursor{Age: day, After: at(day)}, recheck.Cursor{Age: 7 * day, After: at(7*day + 3*time.Hour)})
	begin("gone", recheck.Cursor{Age: day, After: at(9 * day)})
	_, err := conn.Exec(t.Context(), "UPDATE final_cursors SET next_at = now() - interval '2 hours' WHERE account = 'gone'")
	require.NoError(t, err)
	behind, err := store.FinalLookupsBehind(t.Context())
	require.NoError(t, err)
	hours := map[string]float64{}
	for account, late := range behind {
		hours[account] = late.Round(time.Hour).Hours()
	}
	require.Equal(t, map[string]float64{"on time": 0, "late": 3}, hours)
}
