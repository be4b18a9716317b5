package e2e_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhatAPayCarriesIsWrittenNowhere: the log, the pages of support, the events and the tables do not contain the data of an
// order, a pay and a second step in clear.
func TestWhatAPayCarriesIsWrittenNowhere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	shop := s.shop("u1")
	mark := "carried" + unique("x")
	customer := fmt.Sprintf(`{"reference":"u1","email":"%[1]s@shop.example","name":"Jane %[1]s","billing_address":{"line1":"%[1]s Street 1","country":"DE"}}`, mark)
	lines := fmt.Sprintf(`[{"description":"%s ticket","quantity":"1","unit_amount":1999,"amount":1999,"receipt":{"vat_code":1}}]`, mark)
	order := unique("o")
	shop.send(t.Context(), http.MethodPost, "/v1/orders", `{"order_id":"`+order+`","amount":1999,"currency":"EUR","lines":`+lines+`,"customer":`+customer+`}`,
		"Idempotency-Key: "+unique("order")).is(t, http.StatusCreated)
	pay := func(token string) answer {
		return shop.send(t.Context(), http.MethodPost, "/v1/orders/"+order+"/pay", fmt.Sprintf(`{"payment_method":{"token":"%s"},"return_url":"https://shop.example/%s",
			"statement_descriptor":"SHOP A-1","customer":%s,"browser":{"user_agent":"%s/5.0"},"lines":%s}`, token, mark, customer, mark, lines), "Idempotency-Key: "+unique("pay"))
	}
	pay(mark).attempt(t, http.StatusCreated) // the provider refuses the token
	a := pay("tok_3ds").attempt(t, http.StatusCreated)
	require.Equal(t, "awaiting_customer", a.Stage)
	shop.send(t.Context(), http.MethodPost, "/v1/payment-attempts/"+a.ID+"/complete", `{"details":{"sandbox_result":"`+mark+`"}}`,
		"Idempotency-Key: "+unique("complete")).is(t, http.StatusUnprocessableEntity)

	support := s.as(token("desk", "support"))
	page := support.send(t.Context(), http.MethodGet, "/v1/support/attempts/"+a.ID, "")
	page.is(t, http.StatusOK)
	events := s.as(token("reader", "service")).send(t.Context(), http.MethodGet, "/v1/events", "")
	events.is(t, http.StatusOK)
	for what, text := range map[string]string{"the log": s.stderr.String(), "support's page": string(page.text), "the events": string(events.text)} {
		require.NotContains(t, text, mark, what)
		require.Contains(t, text, order, "%s: the search finds what is there", what)
	}
	for _, table := range column[string](t, r, "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace") {
		require.Zero(t, one[int](t, r, "SELECT count(*) FROM "+table+" x WHERE position('"+mark+"' in x::text) > 0"), table)
	}
	require.Positive(t, one[int](t, r, "SELECT count(*) FROM sealed_details"))
}
