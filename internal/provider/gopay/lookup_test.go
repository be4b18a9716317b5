package gopay_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/gopay"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/gopay"
)

const attempt = "0199b2f4-5a7e-7c31-9d3e-2f6a8b1c4d5e"

// fake is a GoPay server with these answers, by path. It issues a new access token each time, and accepts the newest
// only.
type fake struct {
	t       *testing.T
	answers map[string]string
	tokens  atomic.Int32
	// stale is the number of further requests whose token it rejects.
	stale atomic.Int32
}

// ServeHTTP implements http.Handler.
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/api/oauth2/token" {
		id, secret, _ := r.BasicAuth()
		if r.Method != http.MethodPost || id != "id" || secret != "secret" || r.FormValue("grant_type") != "client_credentials" || r.FormValue("scope") != "payment-all" {
			f.t.Errorf("no request for a token: %v", r.Form)
		}
		_, _ = fmt.Fprintf(w, `{"token_type":"bearer","access_token":"token-%d","expires_in":1800}`, f.tokens.Add(1))
		return
	}
	answer, there := f.answers[r.URL.Path]
	switch {
	case r.Method != http.MethodGet || r.Header.Get("Authorization") != fmt.Sprintf("Bearer token-%d", f.tokens.Load()):
		f.t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
	case f.stale.Load() > 0:
		f.stale.Add(-1)
		w.WriteHeader(http.StatusUnauthorized)
	case !there:
		w.WriteHeader(http.StatusNotFound)
		answer = `{"date_issued":"2026-01-02T10:00:00.000+0100","errors":[{"scope":"G","error_code":500,"error_name":"NOT_FOUND"}]}`
	}
	_, _ = io.WriteString(w, answer)
}

func (f *fake) client() *gopay.Client {
	s := httptest.NewServer(f)
	f.t.Cleanup(s.Close)
	return gopay.New(s.URL+"/api/", "id", "secret", "8123456789", s.Client(), time.Now)
}

func answering(t *testing.T, answers map[string]string) *gopay.Client {
	t.Helper()
	return (&fake{t: t, answers: answers}).client()
}

// found returns GoPay's answer about a payment.
func found(state, rest string) string {
	return `{"id":3000006529,"order_number":"001","state":"` + state + `","amount":1999,"currency":"CZK","target":{"type":"ACCOUNT","goid":8123456789}` + rest + `}`
}

const path = "/api/payments/payment/3000006529"

func TestLookup(t *testing.T) {
	t.Parallel()
	czk := &payment.Money{Minor: 1999, Currency: "CZK"}
	for state, want := range map[string]gateway.Outcome{
		"CREATED":               {Event: fsm.EventActionRequired},
		"PAYMENT_METHOD_CHOSEN": {Event: fsm.EventActionRequired},
		"OF_THE_FUTURE":         {Event: fsm.EventProcessing},
		"AUTHORIZED":            {Event: fsm.EventAuthorized, Money: czk},
		"PAID":                  {Event: fsm.EventSucceeded, Money: czk},
		"CANCELED":              {Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "")},
		"TIMEOUTED":             {Event: fsm.EventFailed, Failure: payment.NewFailure("expired", "")},
	} {
		want.ProviderPaymentID, want.Payee = "3000006529", goid
		got, err := answering(t, map[string]string{path: found(state, "")}).Lookup(t.Context(), "3000006529")
		require.NoError(t, err, state)
		require.Equal(t, want, got, state)
	}
}

// TestOnePayment: each notification names a payment by the id in the answer to its creation.
func TestOnePayment(t *testing.T) {
	t.Parallel()
	c, g := opened(t)
	made := charged(t, c, charge("redirect"))
	g.pay(made.ProviderPaymentID)
	v, err := hooks.New(webhooks.Config{})
	require.NoError(t, err)
	notice := v.Read(webhooks.Delivery{URL: "https://pay.example/?payment_attempt_id=" + attempt + "&id=" + made.ProviderPaymentID})[0]
	providertest.NamedAlike(t, providertest.Paid{Provider: c, Charged: made, Webhook: notice})
}

// A notification does not prove which attempt a payment belongs to. GoPay's answer must name the attempt.
func TestMarks(t *testing.T) {
	t.Parallel()
	for rest, want := range map[string][]string{
		"": nil,
		`,"additional_params":[{"name":"other","value":"x"},{"name":"payment_attempt_id","value":"` + attempt + `"}]`: {attempt},
		`,"order_number":"` + attempt + `"`: {attempt},
	} {
		got, err := answering(t, map[string]string{path: found("PAID", rest)}).Lookup(t.Context(), "3000006529")
		require.NoError(t, err)
		require.Equal(t, want, got.References, rest)
	}
}

// A saved card without a customer can't be charged, because its owner is unknown.
func TestACardOfNobody(t *testing.T) {
	t.Parallel()
	got, err := answering(t, map[string]string{path: found("PAID", `,"recurrence":{"recurrence_cycle":"ON_DEMAND","recurrence_state":"STARTED"}`)}).Lookup(t.Context(), "3000006529")
	require.NoError(t, err)
	require.Nil(t, got.Saved)
}

func TestRefundsAreListed(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"PARTIALLY_REFUNDED", "REFUNDED"} {
		got, err := answering(t, map[string]string{
			path: found(state, ""),
			path + "/refunds": `[{"id":1,"state":"SUCCESS","amount":700,"currency":"CZK","date_requested":"2026-01-02T10:00:00Z"},` +
				`{"id":2,"state":"REQUESTED","amount":100},{"id":3,"state":"FAILED","amount":200}]`,
		}).Lookup(t.Context(), "3000006529")
		require.NoError(t, err)
		require.Equal(t, fsm.EventSucceeded, got.Event)
		require.Equal(t, []gateway.RefundOutcome{
			{Event: fsm.EventSucceeded, ProviderRefundID: "1", Money: &payment.Money{Minor: 700, Currency: "CZK"}},
			{Event: fsm.EventProcessing, ProviderRefundID: "2", Money: &payment.Money{Minor: 100, Currency: "CZK"}},
			{Event: fsm.EventFailed, ProviderRefundID: "3", Money: &payment.Money{Minor: 200, Currency: "CZK"}, Failure: payment.NewFailure("provider_rejected", "")},
		}, got.Refunds)
	}
}

func TestARejectedTokenIsRenewedOnce(t *testing.T) {
	t.Parallel()
	f := &fake{t: t, answers: map[string]string{path: found("PAID", "")}}
	c := f.client()
	f.stale.Store(1)
	_, err := c.Lookup(t.Context(), "3000006529")
	require.NoError(t, err)
	require.EqualValues(t, 2, f.tokens.Load())
	f.stale.Store(2)
	_, err = c.Lookup(t.Context(), "3000006529")
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
}

func TestNothingIsMadeOfOtherAnswers(t *testing.T) {
	t.Parallel()
	_, err := answering(t, nil).Lookup(t.Context(), "1")
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
	of := `{"id":1,"state":"PAID","amount":1,"currency":"CZK","target":{"goid":8000000000}}`
	_, err = answering(t, map[string]string{"/api/payments/payment/1": of}).Lookup(t.Context(), "1")
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment, "it is of another shop")
	_, err = answering(t, map[string]string{"/api/payments/payment/1": `{"id":1,"state":"REFUNDED","amount":1,"currency":"CZK"}`, "/api/payments/payment/1/refunds": "null"}).Lookup(t.Context(), "1")
	require.Error(t, err, "it is no list")
	for _, answer := range []string{"", "<html>", "null", "{}", `{"id":1}`, `{"id":1,"state":"PAID","amount":-1,"currency":"CZK"}`, `{"id":1,"state":"REFUNDED","amount":1,"currency":"CZK"}`} {
		_, err := answering(t, map[string]string{"/api/payments/payment/1": answer, "/api/payments/payment/1/refunds": "{}"}).Lookup(t.Context(), "1")
		require.Error(t, err, answer)
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, answer)
	}
}
