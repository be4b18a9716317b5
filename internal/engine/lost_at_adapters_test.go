package engine_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
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
	t.Run("at_comgate_until_its_page_expires", lostPageAtComgate)
	t.Run("at_gocardless", lostChargeAtGoCardless)
	t.Run("at_gocardless_of_a_page", lostPageAtGoCardless)
	t.Run("at_gopay", lostChargeAtGoPay)
	t.Run("at_gopay_of_a_saved_card", lostCardAtGoPay)
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

// later makes the operations of an attempt older, as if this time had passed.
func (r *env) later(t *testing.T, id payment.AttemptID, by time.Duration) {
	t.Helper()
	r.exec(t, `UPDATE operations SET created_at = created_at - $2::interval, first_sent_at = first_sent_at - $2::interval,
		unpaid_at = unpaid_at - $2::interval WHERE attempt_id = $1`, id.String(), by)
}

// neverPaid requires that an attempt has failed, and that its order takes another pay.
func (r *env) neverPaid(t *testing.T, id payment.AttemptID, again gateway.Details) {
	t.Helper()
	a := r.attempt(t, id)
	require.Equal(t, fsm.Failed, a.State)
	require.Equal(t, "not_started", a.Failure.Code)
	require.Equal(t, []string{"not_sent"}, rows[string](t, r, "SELECT state FROM operations WHERE attempt_id = $1", id.String()))
	require.Empty(t, r.discrepancies(t, id))
	p, err := r.Pay(t.Context(), customer, request("pay A-1", "second-key", again.Token), commands.Pay{OrderID: "A-1", Details: again, Capture: payment.CaptureAutomatic})
	require.NoError(t, err)
	require.NotEqual(t, id, p.ID)
	require.Empty(t, r.verify(t))
}

// Comgate mails each payer the address of the page: the charge is open until the page has expired.
func lostPageAtComgate(t *testing.T) {
	t.Parallel()
	api := &sentTo{}
	var expires atomic.Value
	server := api.serve(t, func(_ string, _ int, form url.Values) (int, string) {
		expires.Store(form.Get("expirationTime"))
		return 0, ""
	})
	r := newEnv(t, setup{silent: true, provider: func(gateway.Provider) gateway.Provider {
		c := comgate.New(server.URL, "123456", "shop-secret", server.Client())
		c.AwaitsCustomer = time.Hour
		return c
	}})
	d := gateway.Details{Token: "redirect", Customer: gateway.Customer{Email: "a@shop.example"}}
	id := r.payAs(t, "redirect", d)
	require.Equal(t, "60m", expires.Load())
	r.later(t, id, time.Hour)
	r.recheck(t, id)
	require.Equal(t, fsm.OutcomeUnknown, r.attempt(t, id).State, "a payment may be under way")
	r.later(t, id, payment.GiveUpLeases*r.opts.Lease)
	r.recheck(t, id)
	r.neverPaid(t, id, d)
}

// A billing request is only paid on its page. After the resend window nobody gets its address any more.
func lostPageAtGoCardless(t *testing.T) {
	t.Parallel()
	api := &sentTo{}
	server := api.serve(t, func(string, int, url.Values) (int, string) { return 0, "" })
	r := newEnv(t, setup{silent: true, provider: func(gateway.Provider) gateway.Provider {
		return gocardless.New(server.URL, "token", server.Client())
	}})
	d := gateway.Details{Token: "redirect", ReturnURL: "https://shop.example/"}
	id := r.payAs(t, "redirect", d)
	r.recheck(t, id)
	require.Equal(t, fsm.OutcomeUnknown, r.attempt(t, id).State)
	require.Len(t, api.of("POST /billing_requests"), 2, "the same key finds it")
	r.later(t, id, payment.ResendWindow)
	r.recheck(t, id)
	r.neverPaid(t, id, d)
}

// A saved card is charged without a page. If the answer is lost, it may have been charged.
func lostCardAtGoPay(t *testing.T) {
	t.Parallel()
	api := &sentTo{}
	server := api.serve(t, func(line string, _ int, _ url.Values) (int, string) {
		switch line {
		case "POST /api/oauth2/token":
			return http.StatusOK, `{"access_token":"token","expires_in":1800}`
		case "GET /api/payments/payment/3000006500":
			return http.StatusOK, `{"id":3000006500,"state":"PAID","amount":100,"currency":"EUR","additional_params":[{"name":"customer_reference","value":"u1"}]}`
		}
		return 0, ""
	})
	r := newEnv(t, setup{silent: true, provider: func(gateway.Provider) gateway.Provider {
		return gopay.New(server.URL, "id", "secret", "8123456789", server.Client(), time.Now)
	}})
	id := r.payAs(t, "3000006500", gateway.Details{Token: "3000006500", Stored: true, Customer: gateway.Customer{Reference: "u1"}})
	r.later(t, id, 24*time.Hour)
	r.recheck(t, id)
	require.Equal(t, fsm.OutcomeUnknown, r.attempt(t, id).State)
	require.Len(t, api.of("POST /api/payments/payment/3000006500/create-recurrence"), 1)
}

// GoPay has no key and no search either. Only the lost answer had the address of the page, so the charge is over at once.
// If it is paid nevertheless, that is late money: GoPay's notice has an id alone, and the payment of that id names the
// attempt.
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
	d := gateway.Details{Token: "redirect", ReturnURL: "https://shop.example/", Customer: gateway.Customer{Email: "a@shop.example"}}
	id := r.payAs(t, "redirect", d)
	r.neverPaid(t, id, d)
	require.Len(t, api.of("POST /api/payments/payment"), 2, "one for each pay")

	of = id.String()
	v, err := gopayhooks.New(webhooks.Config{})
	require.NoError(t, err)
	r.notify(t, v, webhooks.Delivery{URL: "/?id=3000006529"})
	r.retry(t, true)
	late := r.attempt(t, id)
	require.Equal(t, fsm.Failed, late.State)
	require.EqualValues(t, price, late.Held())
	require.Equal(t, "3000006529", late.ProviderPaymentID)
	require.Equal(t, []string{"late_success"}, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}
