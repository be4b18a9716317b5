package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// TestARepeatIsAnsweredOnceTheStandbyHasIt: PostgreSQL shows a commit whose wait for the synchronous standby was given up. If the standby is
// promoted, the commit is gone. So no repeated request, webhook or read of the feed promises such a commit.
func TestARepeatIsAnsweredOnceTheStandbyHasIt(t *testing.T) {
	t.Parallel()
	pg := testdb.Private(t)
	r := newRigOn(t, pg.DSN("postgres"))
	s := r.serve()
	admin := testdb.Connect(t, pg.DSN("postgres"))
	waitFor := func(standbys string) {
		for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '" + standbys + "'", "SELECT pg_reload_conf()"} {
			_, err := admin.Exec(t.Context(), statement)
			require.NoError(t, err)
		}
	}
	c := s.shop("u1")
	c.blunt = true
	order, key := unique("o"), unique("key")
	id := ""
	repeats := []struct {
		what string
		send func() answer
		want int
	}{
		{"an order", func() answer { return c.createOrder(t.Context(), order, "order-"+key) }, http.StatusCreated},
		{"a pay", func() answer { return c.pay(t.Context(), order, "pay-"+key, "tok_success") }, http.StatusCreated},
		{"a refund", func() answer {
			return c.send(t.Context(), http.MethodPost, "/v1/payment-attempts/"+id+"/refunds", `{"amount":500}`, "Idempotency-Key: refund-"+key)
		}, http.StatusCreated},
		{"a webhook", func() answer {
			return s.deliverOnce(t.Context(), "stripe-eu", stripeSigner(t), `{"id":"evt_`+key+`","type":"payment_intent.succeeded","data":{"object":{"id":"pi_`+key+
				`","object":"payment_intent","amount":1999,"amount_received":1999,"currency":"eur","metadata":{}}}}`)
		}, http.StatusOK},
		{"the feed", func() answer {
			reader := s.bluntly(token("reader", "service"))
			return reader.send(t.Context(), http.MethodGet, "/v1/events", "")
		}, http.StatusOK},
	}
	for _, of := range repeats {
		a := served(t.Context(), of.send)
		a.is(t, of.want)
		if of.what == "a pay" {
			id = s.customer().settled(t, a.attempt(t, http.StatusCreated).ID).ID
		}
	}

	waitFor("nobody")
	for _, of := range repeats {
		eventually(t, "a refusal of "+of.what, func() bool { return of.send().status == http.StatusServiceUnavailable })
	}
	served(t.Context(), func() answer { return c.read(t.Context(), id) }).is(t, http.StatusOK) // a status promises nothing
	late := unique("o")
	require.Equal(t, http.StatusServiceUnavailable, c.createOrder(t.Context(), late, "order-"+late).status, "its commit waits")
	eventually(t, "the order, which no standby has", func() bool { return one[int](t, r, "SELECT count(*) FROM orders WHERE order_id = '"+late+"'") == 1 })
	require.Equal(t, http.StatusServiceUnavailable, c.createOrder(t.Context(), late, "order-"+late).status)

	waitFor("")
	for _, of := range repeats {
		eventually(t, "the response to "+of.what, func() bool { return of.send().status == of.want })
	}
	served(t.Context(), func() answer { return c.createOrder(t.Context(), late, "order-"+late) }).is(t, http.StatusCreated)
}
