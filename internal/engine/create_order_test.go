package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestCreateOrder(t *testing.T) {
	t.Parallel()
	t.Run("once", createOrderOnce)
	t.Run("existing_is_compared_by_content", createOrderExistingIsComparedByContent)
}

func createOrderOnce(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	cmd := commands.CreateOrder{OrderID: "A-1", Money: payment.Money{Minor: price, Currency: "EUR"}}
	results := make([]idempotency.Result, 20)
	race(times(len(results), func(i int) {
		o, result, err := r.CreateOrder(t.Context(), shop, request("orders", "first-key", "a"), cmd)
		if err != nil || o.ID != "A-1" {
			t.Errorf("%s, %v", o.ID, err)
		}
		results[i] = result
	})...)
	require.Contains(t, results, idempotency.Created)
	r.pay(t, "A-1", "a-pay-key", "tok_success")

	again, result, err := r.CreateOrder(t.Context(), shop, request("orders", "first-key", "a"), cmd)
	require.NoError(t, err)
	require.Equal(t, idempotency.Reused, result)
	require.Equal(t, payment.OrderOpen, again.Status(), "the same request: as it was")
	for range 2 {
		now, _, err := r.CreateOrder(t.Context(), shop, request("orders", "other-key", "a"), cmd)
		require.NoError(t, err)
		require.Equal(t, payment.OrderPaid, now.Status(), "another request: as it is")
	}

	_, _, err = r.CreateOrder(t.Context(), shop, request("orders", "first-key", "b"), cmd)
	require.ErrorIs(t, err, idempotency.ErrKeyReused)
	r.exec(t, "DELETE FROM idempotency_keys")
	_, _, err = r.CreateOrder(t.Context(), shop, request("orders", "first-key", "b"), cmd)
	require.ErrorIs(t, err, idempotency.ErrKeyReused, "whether or not the key is still there")
}

// A shop that makes sure of its order, under a new key each time, may one day write
// members that it left out before.
func createOrderExistingIsComparedByContent(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	r.order(t, "A-1")
	was := commands.CreateOrder{OrderID: "A-1", Money: payment.Money{Minor: price, Currency: "EUR"}}
	empty, dearer, named, marked := was, was, was, was
	empty.Metadata = map[string]string{}
	dearer.Money.Minor++
	named.Description = "Two tickets"
	marked.Metadata = map[string]string{"cart": "77"}
	for key, c := range map[string]struct {
		cmd commands.CreateOrder
		err error
	}{
		"the-same": {was, nil}, "nothing-more": {empty, nil},
		"dearer-1": {dearer, payment.ErrOrderExists}, "described": {named, payment.ErrOrderExists}, "marked-1": {marked, payment.ErrOrderExists},
	} {
		_, _, err := r.CreateOrder(t.Context(), shop, request("orders", key, key), c.cmd)
		require.ErrorIs(t, err, c.err, key)
	}
}
