package braintree_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
)

// A vaulted method can be charged twice, unlike a nonce. If an earlier request may have charged it, nothing is sent, and
// the transaction is searched for.
func TestAVaultedMethodIsChargedByOneRequest(t *testing.T) {
	t.Parallel()
	for _, keyless := range []bool{false, true} {
		f := serving()
		f.keyless, f.slow = keyless, true
		lost, _ := serve(t, losing(f, "POST "+base+"/transactions"))
		c, seen := serve(t, f)
		lost.Keyless, c.Keyless = keyless, keyless
		ch := charge(vaulted)
		ch.Stored, ch.Customer.Reference = true, owner
		_, err := lost.Charge(t.Context(), ch)
		require.Error(t, err)
		require.NotErrorIs(t, err, gateway.ErrNotSent)
		ch.Again = true
		_, err = c.Charge(t.Context(), ch)
		require.ErrorIs(t, err, gateway.ErrNotSent)
		require.NotErrorIs(t, err, gateway.ErrUnsupportedRequest)
		require.Empty(t, lines(seen))
		found, err := c.Find(t.Context(), ch.Attempt)
		require.NoError(t, err)
		require.Equal(t, fsm.EventSucceeded, found.Event)
		require.Len(t, f.transactions, 1)
	}
}

// A nonce is sent again, because its first use consumes it.
func TestANonceIsSentAgain(t *testing.T) {
	t.Parallel()
	f := serving()
	c, _ := serve(t, f)
	ch := charge(once)
	first := charged(t, c, ch)
	ch.Again = true
	require.Equal(t, first, charged(t, c, ch))
	require.Len(t, f.transactions, 1)
}
