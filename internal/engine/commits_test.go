package engine_test

import (
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/platform/watermark"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/webhooks"
)

// TestCommitsAreFoundAgain: each commit before a call to the provider, and each acknowledged order and webhook, names a row by which
// it is found in the database, and by which no other commit is.
func TestCommitsAreFoundAgain(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var all []watermark.Commit
	var marks watermark.Store
	r := newEnv(t, setup{silent: true, change: autoRefunds, store: func(s store) store {
		on, is := s.(*postgres.Store)
		require.True(t, is)
		marks = on.Marks()
		on.OnAcknowledged(func(c watermark.Commit) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, c)
		})
		return s
	}})
	paid := r.paid(t, "A-1", "tok_success")
	_, err := r.Refund(t.Context(), shop, request("refund", "refund-key", ""), commands.CreateRefund{AttemptID: paid.ID})
	require.NoError(t, err)
	hold := r.held(t, "A-2")
	require.NoError(t, r.confirm(t, hold.ID, "confirm-key"))
	late := r.paid(t, "A-3", "tok_decline")
	require.Equal(t, fsm.Conflict, r.say(t, late.ID, webhooks.KindSucceeded))
	due, err := r.DueRefunds(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, due, 1)
	_, err = r.RecheckRefund(t.Context(), due[0], byTest)
	require.NoError(t, err)

	r.say(t, paid.ID, webhooks.KindSucceeded) // nothing new

	now, err := marks.ReadMark(t.Context(), uuid.Nil)
	require.NoError(t, err)
	lost := func(list ...watermark.Commit) []string {
		names, err := marks.Lost(t.Context(), now.Server, watermark.Process{}, time.Time{}, list)
		require.NoError(t, err)
		return names
	}
	require.Empty(t, lost(all...))
	kinds := map[watermark.CommitKind]int{}
	for _, c := range all {
		kinds[c.Kind]++
		other := c
		if other.ID = uuid.New(); c.Kind == watermark.CommitOrder {
			other.Order += "-"
		}
		require.Len(t, lost(other), 1, "another row than %s", c)
		if other = c; c.Kind != watermark.CommitEvent {
			other.At = c.At.Add(time.Microsecond)
			require.Len(t, lost(other), 1, "made at another time than %s", c)
		}
	}
	for _, kind := range []watermark.CommitKind{watermark.CommitOrder, watermark.CommitBegun, watermark.CommitSent, watermark.CommitVersion, watermark.CommitEvent} {
		require.Positive(t, kinds[kind], kind)
	}
	sent := rows[string](t, r, "SELECT attempt_id || ' ' || kind || '-' || number FROM operations WHERE sends > 0")
	require.Len(t, sent, 6)
	for _, name := range sent {
		require.True(t, slices.ContainsFunc(all, func(c watermark.Commit) bool {
			return name == c.ID.String()+" "+c.Operation+"-"+strconv.Itoa(int(c.Number))
		}), "the commit before the first byte of %s", name)
	}
}
