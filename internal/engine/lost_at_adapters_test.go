package engine_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/comgate"
	"github.com/paylatch/paylatch/internal/provider/gocardless"
	"github.com/paylatch/paylatch/internal/provider/gopay"
	"github.com/paylatch/paylatch/webhooks"
	comgatehooks "github.com/paylatch/paylatch/webhooks/comgate"
	gopayhooks "github.com/paylatch/paylatch/webhooks/gopay"
)

func TestLostCharge(t *testing.T) {
	t.Parallel()
	t.Run("at_comgate", lostChargeAtComgate)
	t.Run("at_gocardless", lostChargeAtGoCardless)
	t.Run("at_gopay", lostChargeAtGoPay)
}

// sentTo is an API that counts its requests by the request line.
type sentTo struct {
	mu   sync.Mutex
	sent map[string][]http.Header
}

func (s *sentTo) serve(t *testing.T, answer func(line string, count int, form url.Values) (status int, body string)) *httptest.Server {
	t.Helper()
	s.sent = map[string][]http.Header{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(raw))
		line := r.Method + " " + r.URL.Path
		s.mu.Lock()
		s.sent[line] = append(s.sent[line], r.Header.Clone())
		count := len(s.sent[line])
		s.mu.Unlock()
		status, body := answer(line, count, form)
		if status == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return server
}

func (s *sentTo) of(line string) []http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent[line]
}

func (r *env) payAs(t *testing.T, who string, d gateway.Details) payment.AttemptID {
	t.Helper()
	r.order(t, "A-1")
	actor := customer
	if d.Stored {
		actor = shop
	}
	p, err := r.Pay(t.Context(), actor, request("pay A-1", "first-key", who), commands.Pay{OrderID: "A-1", Details: d, Capture: payment.CaptureAutomatic})
	require.NoError(t, err)
	return p.ID
}

// Comgate has no key and no search: a charge without an answer is never sent again, and its notification names it.
func lostChargeAtComgate(t *testing.T) {
	t.Parallel()
	api := &sentTo{}
	var of string
	server := api.serve(t, func(line string, _ int, form url.Values) (int, string) {
		if line == "POST /v1.0/create" {
			return 0, ""
		}
		return http.StatusOK, fmt.Sprintf("code=0&merchant=123456&transId=%s&refId=%s&price=1999&curr=EUR&status=PAID", form.Get("transId"), of)
	})
	r := newEnv(t, setup{silent: true, provider: func(gateway.Provider) gateway.Provider {
		return comgate.New(server.URL, "123456", "shop-secret", server.Client())
	}, change: func(o *options) {
		a := o.Accounts["sandbox"]
		a.Payees = []string{"123456"}
		o.Accounts["sandbox"] = a
	}})
	id := r.payAs(t, "redirect", gateway.Details{Token: "redirect", Customer: gateway.Customer{Email: "a@shop.example"}})
	require.Equal(t, fsm.OutcomeUnknown, r.attempt(t, id).State)
	for range 3 {
		r.recheck(t, id)
	}
	require.Len(t, api.of("POST /v1.0/create"), 1)
	require.Empty(t, api.of("POST /v1.0/status"), "it has no id to be looked up by")

	of = id.String()
	v, err := comgatehooks.New(webhooks.Config{Secrets: []string{"shop-secret"}})
	require.NoError(t, err)
	d := webhooks.Delivery{Header: http.Header{}, Body: []byte("transId=AB12-EF34-IJ56&status=PAID&price=1999&curr=EUR&refId=" + of)}
	require.NoError(t, v.Sign(&d))
	r.notify(t, v, d)
	r.retry(t, true)
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
	require.Equal(t, "AB12-EF34-IJ56", r.attempt(t, id).ProviderPaymentID)
	require.Len(t, api.of("POST /v1.0/create"), 1)
}

// GoCardless answers a used key with the payment of that key: the charge is sent again, and found.
func lostChargeAtGoCardless(t *testing.T) {
	t.Parallel()
	api := &sentTo{}
	server := api.serve(t, func(line string, count int, _ url.Values) (int, string) {
		switch {
		case line == "GET /mandates/MD1":
			return http.StatusOK, `{"mandates":{"id":"MD1","metadata":{},"links":{"customer":"CU1"}}}`
		case line == "GET /payments/PM1":
			return http.StatusOK, `{"payments":{"id":"PM1","status":"confirmed","amount":1999,"currency":"EUR","metadata":{}}}`
		case count == 1:
			return 0, ""
		}
		return http.StatusConflict, `{"error":{"type":"invalid_state","code":409,"errors":[{"reason":"idempotent_creation_conflict","links":{"conflicting_resource_id":"PM1"}}]}}`
	})
	r := newEnv(t, setup{silent: true, provider: func(gateway.Provider) gateway.Provider {
		return gocardless.New(server.URL, "token", server.Client())
	}})
	id := r.payAs(t, "MD1", gateway.Details{Token: "MD1", Stored: true, Unattended: true, Customer: gateway.Customer{Reference: "CU1"}})
	require.Equal(t, fsm.OutcomeUnknown, r.attempt(t, id).State)
	r.recheck(t, id)
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
	sent := api.of("POST /payments")
	require.Len(t, sent, 2)
	require.NotEmpty(t, sent[0].Get("Idempotency-Key"))
	require.Equal(t, sent[0].Get("Idempotency-Key"), sent[1].Get("Idempotency-Key"))
}

// GoPay has no key and no search either; its notice has an id alone, and the payment of that names the attempt.
func lostChargeAtGoPay(t *testing.T) {
	t.Parallel()
	api := &sentTo{}
	var of string
	server := api.serve(t, func(line string, _ int, _ url.Values) (int, string) {
		switch line {
		case "POST /api/oauth2/token":
			return http.StatusOK, `{"access_token":"token","expires_in":1800}`
		case "POST /api/payments/payment":
			return 0, ""
		}
		return http.StatusOK, `{"id":3000006529,"state":"PAID","amount":1999,"currency":"EUR","additional_params":[{"name":"payment_attempt_id","value":"` + of + `"}]}`
	})
	r := newEnv(t, setup{silent: true, provider: func(gateway.Provider) gateway.Provider {
		return gopay.New(server.URL, "id", "secret", "8123456789", server.Client(), time.Now)
	}})
	id := r.payAs(t, "redirect", gateway.Details{Token: "redirect", ReturnURL: "https://shop.example/", Customer: gateway.Customer{Email: "a@shop.example"}})
	require.Equal(t, fsm.OutcomeUnknown, r.attempt(t, id).State)
	for range 3 {
		r.recheck(t, id)
	}
	require.Len(t, api.of("POST /api/payments/payment"), 1)

	of = id.String()
	v, err := gopayhooks.New(webhooks.Config{})
	require.NoError(t, err)
	r.notify(t, v, webhooks.Delivery{URL: "/?id=3000006529"})
	r.retry(t, true)
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
	require.Equal(t, "3000006529", r.attempt(t, id).ProviderPaymentID)
	require.Len(t, api.of("POST /api/payments/payment"), 1)
}
