package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

// fuzzed returns a function that sends bodies to a command. It requires an intended response: created, or a refusal before the use case
// is called.
func fuzzed(path string) (*payments, func(t *testing.T, body string) (created bool)) {
	p := &payments{order: order(), result: "created", reply: commands.Reply{View: payment.View{Attempt: pending()}, Result: "created"}}
	p.refund = commands.RefundReply{Refund: pendingRefund(), Result: "created"}
	handler := api.New(api.Options{Payments: p, Reads: p, Deliveries: p, Auth: tokens{}, Log: zerolog.Nop()})
	return p, func(t *testing.T, body string) bool {
		t.Helper()
		before := p.calls
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer service-1")
		r.Header.Set("On-Behalf-Of", "u1")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", "key-00000001")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		require.Contains(t, []int{201, 400, 422}, w.Code, "%s", w.Body)
		require.True(t, json.Valid(w.Body.Bytes()))
		require.Equal(t, w.Code == http.StatusCreated, p.calls == before+1)
		return w.Code == http.StatusCreated
	}
}

func FuzzCreateOrder(f *testing.F) {
	for _, seed := range []string{goodOrder, `{"amount":1e3,"currency":"EUR"}`, `{"amount":1,"currency":"eur"}`, `{"amount":1,"currency":"EUR","metadata":{"\u0000":"1"}}`, `[]`} {
		f.Add(seed)
	}
	p, send := fuzzed("/v1/orders")
	f.Fuzz(func(t *testing.T, body string) {
		if !send(t, body) {
			return
		}
		cmd := p.created
		require.GreaterOrEqual(t, cmd.Money.Minor, int64(1))
		require.LessOrEqual(t, cmd.Money.Minor, int64(payment.MaxAmount))
		require.Regexp(t, `^[A-Z]{3}$`, cmd.Money.Currency)
		require.Regexp(t, `^[A-Za-z0-9._:~-]{0,128}$`, cmd.OrderID)
		texts := []string{cmd.Description}
		for name, value := range cmd.Metadata {
			texts = append(texts, name, value)
		}
		for _, text := range texts {
			require.True(t, utf8.ValidString(text))
			require.NotContains(t, text, "\x00", "PostgreSQL keeps no such text")
		}
	})
}

func FuzzPay(f *testing.F) {
	for _, seed := range []string{goodPay, `{"payment_method":{"token":"t"},"return_url":"https://a.example"}`, `{"payment_method":{"token":"t"},"capture":"manual_multiple","amount":1,"currency":"JPY"}`} {
		f.Add(seed)
	}
	p, send := fuzzed("/v1/orders/A-1/pay")
	f.Fuzz(func(t *testing.T, body string) {
		if !send(t, body) {
			return
		}
		require.NotEmpty(t, p.pays.Token)
		require.NotContains(t, p.pays.Token, "\x00")
		require.Contains(t, []payment.CaptureMode{payment.CaptureAutomatic, payment.CaptureManual, payment.CaptureSeveral}, p.pays.Capture)
		if p.pays.ReturnURL != "" {
			require.Regexp(t, `^(?i:https?)://`, p.pays.ReturnURL)
		}
	})
}

func FuzzCreateRefund(f *testing.F) {
	for _, seed := range []string{``, `{}`, `{"amount":500,"reason":"One ticket","expected_refundable":0}`, `{"amount":-0}`, `{"reason":"\u0000"}`, `null`} {
		f.Add(seed)
	}
	p, send := fuzzed(attemptPath + "/refunds")
	f.Fuzz(func(t *testing.T, body string) {
		if !send(t, body) {
			return
		}
		cmd := p.refunds
		require.Equal(t, attemptID, cmd.AttemptID)
		require.True(t, utf8.ValidString(cmd.Reason))
		require.NotContains(t, cmd.Reason, "\x00", "PostgreSQL keeps no such text")
		require.True(t, cmd.Amount == nil || *cmd.Amount > 0)
		require.True(t, cmd.Expected == nil || *cmd.Expected >= 0)
	})
}
