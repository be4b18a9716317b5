package payment_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
)

// TestWhatIsWatchedIsWhatIsRead: several attempts at once look as each by itself.
func TestWhatIsWatchedIsWhatIsRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{})
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
