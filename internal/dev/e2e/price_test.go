package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// shop is the merchant's backend, which acts for a user.
func (s *service) shop(user string) client {
	return client{base: s.base, token: token("shop", "service"), user: user}
}

// TestPriceIsTheBackends: the creator of an order sets its price, and the choice of the account decides where the money goes.
// The customer may do neither, unless the configuration allows it.
func TestPriceIsTheBackends(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	account := func(name, more string) string {
		return "{name: " + name + ", kind: sandbox, base_url: '" + r.gate.URL + "', webhook_secrets: [" + sandboxSecret + "]" + more + "}"
	}
	s := r.serve("PAYLATCH_ACCOUNTS=[" + account("sandbox", "") + ", " + account("hidden", "") + ", " + account("shown", ", offered: true") + "]")

	t.Run("orders", func(t *testing.T) {
		t.Parallel()
		const body = `{"amount":1,"currency":"EUR"}`
		create := func(c client, body string) answer {
			return c.send(t.Context(), http.MethodPost, "/v1/orders", body, "Idempotency-Key: "+unique("order"))
		}
		p := create(s.customer(), body).problem(t, http.StatusForbidden, "forbidden")
		require.Equal(t, "Use a token with the role service.", p.Detail)
		create(s.customer(), `{"order_id":"chosen","amount":1,"currency":"EUR"}`).problem(t, http.StatusForbidden, "forbidden")
		create(s.as(token("u1", "customer", "support", "admin")), body).problem(t, http.StatusForbidden, "forbidden")
		require.Equal(t, "service", create(s.shop("u1"), body).order(t)["created_by"])

		giving := r.serve("PAYLATCH_ORDERS_CREATED_BY=[service, customer]")
		made := create(giving.customer(), body).order(t)
		require.Equal(t, "customer", made["created_by"])
		require.Equal(t, "u1", made["user_id"])
		require.Equal(t, "customer", giving.customer().readOrder(t, made["order_id"].(string))["created_by"]) //nolint:forcetypeassert // the contract's
		chosen := create(giving.customer(), `{"order_id":"chosen","amount":1,"currency":"EUR"}`)
		require.Equal(t, "order_id", chosen.problem(t, http.StatusUnprocessableEntity, "validation-failed").Errors[0].Field)
		require.Empty(t, column[string](t, r, `SELECT order_id FROM orders WHERE order_id = 'chosen'`))
		require.Equal(t, "chosen", create(giving.shop("u1"), `{"order_id":"chosen","amount":1,"currency":"EUR"}`).order(t)["order_id"])
	})

	t.Run("accounts", func(t *testing.T) {
		t.Parallel()
		pay := func(c client, account, key string) answer {
			return c.send(t.Context(), http.MethodPost, "/v1/orders/"+s.customer().order(t)+"/pay",
				`{"account":"`+account+`","payment_method":{"token":"tok_success"}}`, "Idempotency-Key: "+key)
		}
		for _, name := range []string{"hidden", "there-is-none"} {
			key := unique("pay")
			got := pay(s.customer(), name, key)
			got.problem(t, http.StatusForbidden, "account-not-offered")
			got.result(t, "")
			require.Empty(t, column[string](t, r, `SELECT key FROM idempotency_keys WHERE key = $1`, key))
		}
		for name, c := range map[string]client{"sandbox": s.customer(), "shown": s.customer(), "hidden": s.shop("u1")} {
			var at struct {
				Account string `json:"account"`
			}
			got := pay(c, name, unique("pay"))
			got.is(t, http.StatusCreated)
			require.NoError(t, json.Unmarshal(got.text, &at))
			require.Equal(t, name, at.Account)
		}
	})

	t.Run("for_whom", func(t *testing.T) {
		t.Parallel()
		c := s.customer()
		order := c.order(t)
		a := c.pay(t.Context(), order, unique("pay"), "tok_success").attempt(t, http.StatusCreated)
		at := "/v1/payment-attempts/" + a.ID
		nobody, admin := s.shop(""), s.as(token("ada", "admin"))
		for path, body := range map[string]string{
			"/v1/orders": goodOrder, "/v1/orders/" + order + "/pay": goodPay, "/v1/orders/" + order + "/cancel": "{}",
			at + "/confirm": "{}", at + "/cancel": "{}", at + "/refunds": "{}",
		} {
			got := nobody.send(t.Context(), http.MethodPost, path, body, "Idempotency-Key: "+unique("key"))
			got.problem(t, http.StatusBadRequest, "on-behalf-of-missing")
			got.result(t, "")
		}
		refund := admin.send(t.Context(), http.MethodPost, at+"/refunds", `{"amount":100}`, "Idempotency-Key: "+unique("refund"))
		refund.is(t, http.StatusCreated)
		for _, path := range []string{"/v1/orders/" + order, "/v1/orders/" + order + "/attempts", at, "/v1/refunds/" + refund.order(t)["refund_id"].(string)} { //nolint:forcetypeassert // the contract's
			nobody.send(t.Context(), http.MethodGet, path, "").is(t, http.StatusOK)
			s.shop("u1").send(t.Context(), http.MethodGet, path, "").is(t, http.StatusOK)
			s.shop("u2").send(t.Context(), http.MethodGet, path, "").problem(t, http.StatusForbidden, "forbidden")
			s.as(token("u2", "customer")).send(t.Context(), http.MethodGet, path, "").problem(t, http.StatusForbidden, "forbidden")
		}
	})

	t.Run("what_is_not_theirs", func(t *testing.T) {
		t.Parallel()
		c := s.customer()
		order := c.order(t)
		a := c.pay(t.Context(), order, unique("pay"), "tok_success").attempt(t, http.StatusCreated)
		refund := s.shop("u1").send(t.Context(), http.MethodPost, "/v1/payment-attempts/"+a.ID+"/refunds", `{"amount":100}`, "Idempotency-Key: "+unique("refund"))
		refund.is(t, http.StatusCreated)
		theirs := map[string]string{"order": order, "attempt": a.ID, "refund": refund.order(t)["refund_id"].(string)} //nolint:forcetypeassert // the contract's
		none := map[string]string{"order": "there-is-none", "attempt": uuid.NewString(), "refund": uuid.NewString()}
		odd := map[string]string{"order": "a%20b", "attempt": "1", "refund": "1"}
		stranger, shop, support := s.as(token("u2", "customer")), s.shop("u1"), s.as(token("sam", "support"))
		for _, call := range []struct{ method, before, of, after, body string }{
			{http.MethodGet, "/v1/orders/", "order", "", ""},
			{http.MethodGet, "/v1/orders/", "order", "/attempts", ""},
			{http.MethodPost, "/v1/orders/", "order", "/pay", goodPay},
			{http.MethodPost, "/v1/orders/", "order", "/cancel", "{}"},
			{http.MethodGet, "/v1/payment-attempts/", "attempt", "", ""},
			{http.MethodGet, "/v1/payment-attempts/", "attempt", "/stream", ""},
			{http.MethodPost, "/v1/payment-attempts/", "attempt", "/confirm", "{}"},
			{http.MethodPost, "/v1/payment-attempts/", "attempt", "/cancel", "{}"},
			{http.MethodGet, "/v1/refunds/", "refund", "", ""},
		} {
			ask := func(c client, ids map[string]string) answer {
				var key []string
				if call.method == http.MethodPost {
					key = append(key, "Idempotency-Key: "+unique("key"))
				}
				return c.send(t.Context(), call.method, call.before+ids[call.of]+call.after, call.body, key...)
			}
			for _, ids := range []map[string]string{theirs, none, odd} {
				got := ask(stranger, ids)
				p := got.problem(t, http.StatusForbidden, "forbidden")
				want := "Use the token of the owner, or of a service that acts for the owner by On-Behalf-Of."
				if call.after == "/confirm" { // it is no customer's
					want = "Use a token with the role service."
				}
				require.Equal(t, want, p.Detail, call)
				got.result(t, "")
			}
			ask(shop, none).problem(t, http.StatusNotFound, "not-found")
			ask(shop, odd).problem(t, http.StatusNotFound, "not-found")
			if call.method == http.MethodGet {
				ask(support, none).problem(t, http.StatusNotFound, "not-found")
			}
		}
		require.Empty(t, column[string](t, r, `SELECT key FROM idempotency_keys WHERE user_id = 'u2'`), "no key is used up")
	})
}

func (a answer) order(t *testing.T) map[string]any {
	t.Helper()
	require.NoError(t, a.err)
	require.Less(t, a.status, 300, "%s", a.text)
	var o map[string]any
	require.NoError(t, json.Unmarshal(a.text, &o), "%s", a.text)
	return o
}

func (c client) readOrder(t *testing.T, id string) map[string]any {
	t.Helper()
	return c.send(t.Context(), http.MethodGet, "/v1/orders/"+id, "").order(t)
}
