package demo_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const registered = `{"payment_attempt_id":"at-1","status":"pending","stage":"awaiting_customer","origin":"external","amount":1999,"currency":"EUR",` +
	`"provider_reference":{"text":"at-1","metadata":{}},"provider_idempotency_key":"at-1-charge-0","status_token":"pst_1"}`

// byForm is paylatch's and the provider's answers to an order that is paid by the
// provider's own form.
func byForm(registration, charge string, status int) func(call) (int, http.Header, string) {
	return func(c call) (int, http.Header, string) {
		if c.path == "/v1/charges" {
			return status, nil, charge
		}
		return 201, http.Header{"Content-Type": {jsonType}}, registration
	}
}

func TestOpenForm(t *testing.T) {
	t.Parallel()
	r := newEnv(t, byForm(registered, `{"id":"ch_1","client_secret":"ch_1_secret_x"}`, 201))
	for range 2 {
		got := r.send("POST", "/demo/orders/A-1/form", jsonType, `{"amount":1}`, "Idempotency-Key: press-0001")
		require.Equal(t, 201, got.StatusCode)
		require.JSONEq(t, `{"payment_attempt_id":"at-1","status":"pending","stage":"awaiting_customer","origin":"external","amount":1999,`+
			`"currency":"EUR","status_token":"pst_1","form":{"client_secret":"ch_1_secret_x"}}`, got.text)
	}
	registrations := r.backend.to("POST", "/v1/orders/A-1/attempts")
	require.Len(t, registrations, 2)
	require.Equal(t, "press-0001", registrations[0].key)
	require.JSONEq(t, `{"expires_in":1800}`, registrations[0].body, "the page decides nothing")
	created := r.backend.to("POST", "/v1/charges")
	require.Len(t, created, 2)
	require.Equal(t, created[0].body, created[1].body)
	require.Equal(t, "at-1-charge-0", created[0].key)
	require.JSONEq(t, `{"reference":"at-1","amount":1999,"currency":"EUR","token":"tok_dropin"}`, created[0].body)
	require.Empty(t, created[0].authorization, "the provider does not get paylatch's token")
}

func TestOpenFormOfAnEndedAttempt(t *testing.T) {
	t.Parallel()
	r := newEnv(t, byForm(strings.Replace(registered, "pending", "failed", 1), `{}`, 201))
	got := r.send("POST", "/demo/orders/A-1/form", jsonType, `{}`, "Idempotency-Key: press-0001")
	require.Equal(t, 201, got.StatusCode)
	require.NotContains(t, got.text, "form")
	require.Empty(t, r.backend.to("POST", "/v1/charges"))
}

// If the payment was not created at the provider, the page repeats its request with the same key.
func TestOpenFormWithoutProvider(t *testing.T) {
	t.Parallel()
	for name, pay := range map[string]func(call) (int, http.Header, string){
		"silent":     byForm(registered, "", 0),
		"an error":   byForm(registered, `{"error":{"code":"internal_error"}}`, 500),
		"no secret":  byForm(registered, `{"id":"ch_1"}`, 201),
		"unreadable": byForm("<html>", "", 201),
	} {
		got := newEnv(t, pay).send("POST", "/demo/orders/A-1/form", jsonType, `{}`, "Idempotency-Key: press-0001")
		require.Equal(t, http.StatusBadGateway, got.StatusCode, name)
		require.Equal(t, "1", got.Header.Get("Retry-After"), name)
	}
	refused := newEnv(t, func(call) (int, http.Header, string) { return 409, nil, `{"code":"order-already-paid"}` })
	require.Equal(t, 409, refused.send("POST", "/demo/orders/A-1/form", jsonType, `{}`, "Idempotency-Key: press-0001").StatusCode)
	require.Empty(t, refused.backend.to("POST", "/v1/charges"))
}

func TestGiveUp(t *testing.T) {
	t.Parallel()
	const left = `{"payment_attempt_id":"at-0","status":"failed","origin":"external"}`
	const open = `{"payment_attempt_id":"at-1","status":"pending","stage":"awaiting_customer","origin":"external"}`
	for then, to := range map[string]string{"checkout": "/demo/orders/A-1", "form": "/demo/orders/A-1/form", "https://evil.example": "/demo/orders/A-1"} {
		r := newEnv(t, created, left, open)
		got := r.send("POST", "/demo/orders/A-1/give-up", formType, "then="+then)
		require.Equal(t, http.StatusSeeOther, got.StatusCode)
		require.Equal(t, to, got.Header.Get("Location"))
		reports := r.backend.to("POST", "/report")
		require.Len(t, reports, 1)
		require.Equal(t, "/v1/payment-attempts/at-1/report", reports[0].path)
		require.Equal(t, "abandoned:at-1", reports[0].key)
		require.JSONEq(t, `{"outcome":"abandoned","reason":"left the form"}`, reports[0].body)
	}
	for status, want := range map[int]int{409: 303, 503: 503, 0: 503} {
		r := newEnv(t, func(call) (int, http.Header, string) { return status, nil, `{"code":"attempt-final"}` }, open)
		require.Equal(t, want, r.send("POST", "/demo/orders/A-1/give-up", formType, "then=form").StatusCode, status)
	}
}

// While a payment is under way the order has one checkout: that of the payment.
func TestCheckoutOfThePayment(t *testing.T) {
	t.Parallel()
	for origin, paths := range map[string][2]string{
		"external": {"/demo/orders/A-1", "/demo/orders/A-1/form"},
		"paylatch": {"/demo/orders/A-1/form", "/demo/orders/A-1"},
	} {
		r := newEnv(t, created, `{"payment_attempt_id":"at-1","status":"pending","stage":"requested","origin":"`+origin+`"}`)
		got := r.send("GET", paths[0], "", "")
		require.Equal(t, http.StatusSeeOther, got.StatusCode, origin)
		require.Equal(t, paths[1], got.Header.Get("Location"))
		require.Equal(t, 200, r.send("GET", paths[1], "", "").StatusCode)
	}
}

// Both checkouts may run the provider's script, which calls the provider.
func TestFormPage(t *testing.T) {
	t.Parallel()
	r := newEnv(t, created)
	provider := r.backend.url
	for _, path := range []string{"/demo/orders/A-1/form", "/demo/orders/A-1"} {
		got := r.send("GET", path, "", "")
		require.Contains(t, got.text, `<script src="`+provider+`/v1/dropin.js" defer></script>`)
		require.Contains(t, got.Header.Get("Content-Security-Policy"), "script-src 'self' "+provider+"; style-src 'self'; connect-src 'self' "+provider+";")
	}
	require.NotContains(t, r.send("GET", "/demo", "", "").Header.Get("Content-Security-Policy"), provider)
}
