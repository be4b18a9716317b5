package e2e_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/redact"
)

// With the real program and the sandbox: A's stored payment method pays A's order and no other user's, and only the shop's
// backend can use it.
func TestStoredMethodIsItsOwners(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	shop := s.as(token("shop", "service"))
	pay := func(c client, user, method, customer string) answer {
		headers := []string{"Idempotency-Key: " + unique("pay")}
		if user != "" {
			headers = append(headers, "On-Behalf-Of: "+user)
		}
		id := unique("o")
		order := []string{"Idempotency-Key: " + unique("key"), "On-Behalf-Of: " + cmp.Or(user, "u1")}
		shop.send(t.Context(), http.MethodPost, "/v1/orders", `{"order_id":"`+id+`","amount":1999,"currency":"EUR"}`, order...).is(t, http.StatusCreated)
		return c.send(t.Context(), http.MethodPost, "/v1/orders/"+id+"/pay", `{"payment_method":`+method+customer+`}`, headers...)
	}
	read := func(a answer) (id, card string) {
		a.is(t, http.StatusCreated)
		var shown struct {
			ID     string `json:"payment_attempt_id"`
			Status string `json:"status"`
			Saved  *struct {
				Token   string `json:"token"`
				Type    string `json:"type"`
				Display string `json:"display"`
				Expires string `json:"expires"`
			} `json:"saved_payment_method"`
		}
		require.NoError(t, json.Unmarshal(a.text, &shown))
		require.Equal(t, "succeeded", shown.Status)
		if shown.Saved == nil {
			return shown.ID, ""
		}
		require.NotEmpty(t, shown.Saved.Type+shown.Saved.Display+shown.Saved.Expires)
		return shown.ID, shown.Saved.Token
	}
	_, card := read(pay(s.customer(), "", `{"token":"tok_save"}`, ""))
	require.Regexp(t, `^card_[0-9a-f]{32}$`, card)
	stored := `{"token":"` + card + `","stored":true}`
	moved := len(r.movements(t))
	for name, refused := range map[string]struct {
		got    answer
		status int
		code   string
	}{
		"not said":              {pay(shop, "u1", `{"token":"`+card+`"}`, ""), 422, "stored-payment-method"},
		"by the customer":       {pay(s.customer(), "", stored, ""), 403, "forbidden"},
		"unsaid by a customer":  {pay(s.customer(), "", `{"token":"`+card+`"}`, ""), 422, "stored-payment-method"},
		"for another":           {pay(shop, "u2", stored, ""), 403, "payment-method-not-yours"},
		"for another, named":    {pay(shop, "u1", stored, `,"customer":{"reference":"u2"}`), 403, "payment-method-not-yours"},
		"a customer names one":  {pay(s.customer(), "", `{"token":"tok_save"}`, `,"customer":{"reference":"u2"}`), 403, "forbidden"},
		"nobody's":              {pay(shop, "u1", `{"token":"card_00","stored":true}`, ""), 403, "payment-method-not-yours"},
		"not stored, called so": {pay(shop, "u1", `{"token":"tok_success","stored":true}`, ""), 422, "validation-failed"},
	} {
		refused.got.is(t, refused.status)
		require.Contains(t, string(refused.got.text), `"code":"`+refused.code+`"`, name)
	}
	require.Len(t, r.movements(t), moved, "no money moved")
	id, again := read(pay(shop, "u1", stored, ""))
	require.Empty(t, again)
	r.charged(t, id, 1999)
	id, _ = read(pay(shop, "u2", stored, `,"customer":{"reference":"u1"}`))
	r.charged(t, id, 1999)

	r.exec(t, "UPDATE saved_methods SET removed_at = now() WHERE token = '"+card+"'") // as the provider's event does
	gone := pay(shop, "u1", stored, "")
	gone.is(t, http.StatusUnprocessableEntity)
	require.Contains(t, string(gone.text), `"code":"payment-method-removed"`)
}

// A card number that is sent in clear is in no table and no line of the log.
func TestCardNumberRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	const visa = "4111111111111111"
	c := s.customer()
	order := c.order(t)
	for _, got := range []answer{
		c.pay(t.Context(), order, unique("pay"), visa),
		c.pay(t.Context(), order, unique("pay"), "4111.1111.1111.1111"),
		c.createOrder(t.Context(), visa, unique("key")),
		c.send(t.Context(), http.MethodPost, "/v1/orders", `{"amount":1,"currency":"EUR","metadata":{"note":"4111 1111 1111 1111"}}`, "Idempotency-Key: "+unique("key")),
		c.send(t.Context(), http.MethodGet, "/v1/orders/"+visa, ""),
		s.as(token("sam", "support")).send(t.Context(), http.MethodGet, "/v1/support/search?q="+visa, "", "X-Request-Id: "+visa),
	} {
		got.is(t, http.StatusUnprocessableEntity)
		require.Contains(t, string(got.text), `"code":"card-number-refused"`)
		require.False(t, redact.CardNumberIn(string(got.text)))
	}
	for _, table := range column[string](t, r, `SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`) {
		require.Zero(t, one[int64](t, r, `SELECT count(*) FROM `+table+` t WHERE t::text LIKE '%4111%1111%1111%1111%'`), table)
	}
}
