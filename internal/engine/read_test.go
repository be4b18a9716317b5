package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
)

func TestRead(t *testing.T) {
	t.Parallel()
	t.Run("changes_nothing", readChangesNothing)
	t.Run("watched", readWatched)
}

// Several attempts that are read at once look as each by itself.
func readWatched(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{})
	ids := []payment.AttemptID{
		r.paid(t, "o1", "tok_success").ID, r.paid(t, "o2", "tok_decline").ID, r.paid(t, "o3", "tok_redirect").ID, {},
	}
	r.pay(t, "o2", "second-key", "tok_success") // so the first can't be tried again
	ids = append(ids, r.paid(t, "o4", "tok_decline").ID)
	views, err := r.Watched(t.Context(), ids)
	require.NoError(t, err)
	require.Len(t, views, 4, "what is not there is left out")
	for _, v := range views {
		want, err := r.Attempt(t.Context(), customer, v.ID)
		require.NoError(t, err)
		want.ReadAt, v.ReadAt = v.CreatedAt, v.CreatedAt
		require.Equal(t, want, v)
		require.Equal(t, v.OrderID == "o4", v.CanStartNew, v.OrderID)
	}
}

// Reading never changes state; a page reload never opens a second attempt
// (own-pay #183).
func readChangesNothing(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	first := r.paid(t, "A-1", "tok_500_charged")
	before := r.attempt(t, first.ID)
	for range 3 {
		_, err := r.Attempt(t.Context(), customer, first.ID)
		require.NoError(t, err)
		_, err = r.Order(t.Context(), customer, "A-1")
		require.NoError(t, err)
		views, err := r.Attempts(t.Context(), customer, "A-1", "first-key")
		require.NoError(t, err)
		require.Len(t, views, 1)
	}
	after := r.attempt(t, first.ID)
	after.ReadAt = before.ReadAt
	require.Equal(t, before, after)
}
