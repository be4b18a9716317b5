package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
)

// TestPausedAccount begins no payment by a paused account. The request of an existing payment gets its attempt.
func TestPausedAccount(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{})
	r.order(t, "A-1")
	first := r.pay(t, "A-1", "first-key", "tok_success")
	r.order(t, "A-2")
	paused := r.another(t, func(o *options) {
		account := o.Accounts["sandbox"]
		account.Paused = true
		o.Accounts["sandbox"] = account
	})
	_, err := try(t.Context(), paused, "A-2", "second-key", "tok_success")
	require.ErrorIs(t, err, gateway.ErrAccountPaused)
	require.Equal(t, []int{0}, rows[int](t, r, "SELECT count(*) FROM payment_attempts WHERE order_id = 'A-2'"))
	again, err := try(t.Context(), paused, "A-1", "first-key", "tok_success")
	require.NoError(t, err)
	require.Equal(t, first.ID, again.ID)
}
