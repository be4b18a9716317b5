package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCustomerPaysInFull: with a customer's token alone, a client requests a hold and captures one cent of it.
func TestCustomerPaysInFull(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve(leftAlone)
	const hold, cent = `{"payment_method":{"token":"tok_success"},"capture":"manual"}`, `{"amount":1}`
	confirm := func(c client, id, body, key string) answer {
		return c.send(t.Context(), http.MethodPost, "/v1/payment-attempts/"+id+"/confirm", body, "Idempotency-Key: "+key)
	}
	pay := func(c client, order, body, key string) answer {
		return c.send(t.Context(), http.MethodPost, "/v1/orders/"+order+"/pay", body, "Idempotency-Key: "+key)
	}

	t.Run("hold_of_their_own", func(t *testing.T) {
		t.Parallel()
		c, key := s.customer(), unique("pay")
		order := c.order(t)
		got := pay(c, order, hold, key)
		require.Equal(t, "capture", got.problem(t, http.StatusForbidden, "forbidden").Errors[0].Field)
		got.result(t, "")
		require.Equal(t, "open", c.readOrder(t, order)["status"])
		a := pay(c, order, `{"payment_method":{"token":"tok_success"}}`, key).attempt(t, http.StatusCreated)
		r.charged(t, a.ID, 1999)
	})
	t.Run("hold_of_the_shop", func(t *testing.T) {
		t.Parallel()
		c, key := s.customer(), unique("confirm")
		order := c.order(t)
		a := pay(s.shop("u1"), order, hold, unique("pay")).attempt(t, http.StatusCreated)
		require.Equal(t, "authorized", a.Stage)
		require.Equal(t, "amount", confirm(c, a.ID, cent, key).problem(t, http.StatusForbidden, "forbidden").Errors[0].Field)
		confirm(c, a.ID, "{}", key).problem(t, http.StatusForbidden, "forbidden")
		confirm(c, a.ID, "", key).problem(t, http.StatusForbidden, "forbidden")
		for _, end := range []string{"/v1/payment-attempts/" + a.ID + "/cancel", "/v1/orders/" + order + "/cancel"} {
			got := c.send(t.Context(), http.MethodPost, end, "{}", "Idempotency-Key: "+key)
			require.Equal(t, "Use a token with the role service, or let the shop end the hold.", got.problem(t, http.StatusForbidden, "forbidden").Detail)
		}
		require.Empty(t, column[string](t, r, "SELECT key FROM idempotency_keys WHERE key = $1", key))
		require.Empty(t, r.ledger(t, a.ID))
		confirm(s.shop("u1"), a.ID, "{}", unique("confirm")).is(t, http.StatusOK)
		r.charged(t, a.ID, 1999)
	})
	t.Run("attempt_of_the_shop", func(t *testing.T) {
		t.Parallel()
		c := s.customer()
		order := c.order(t)
		registered := s.shop("u1").send(t.Context(), http.MethodPost, "/v1/orders/"+order+"/attempts", `{}`, "Idempotency-Key: "+unique("attempt")).attempt(t, http.StatusCreated)
		got := pay(c, order, `{"payment_method":{"token":"tok_success"},"supersedes":"`+registered.ID+`"}`, unique("pay"))
		require.Equal(t, "supersedes", got.problem(t, http.StatusForbidden, "forbidden").Errors[0].Field)
		require.Equal(t, "awaiting_customer", c.read(t.Context(), registered.ID).attempt(t, http.StatusOK).Stage)
	})
	t.Run("rights_of_the_configuration", func(t *testing.T) {
		t.Parallel()
		generous := r.serve(leftAlone, "PAYLATCH_ORDERS_CUSTOMERS_MAY=[capture_manual, cancel_hold, confirm]")
		c := generous.customer()
		a := pay(c, c.order(t), hold, unique("pay")).attempt(t, http.StatusCreated)
		require.Equal(t, "amount", confirm(c, a.ID, cent, unique("confirm")).problem(t, http.StatusForbidden, "forbidden").Errors[0].Field)
		require.Equal(t, "succeeded", confirm(c, a.ID, "{}", unique("confirm")).attempt(t, http.StatusOK).Status)
		r.charged(t, a.ID, 1999)
		other := pay(c, c.order(t), hold, unique("pay")).attempt(t, http.StatusCreated)
		c.send(t.Context(), http.MethodPost, "/v1/payment-attempts/"+other.ID+"/cancel", "{}", "Idempotency-Key: "+unique("cancel")).is(t, http.StatusOK)
	})
}
