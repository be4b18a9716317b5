package provider_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// searched is the first page of a kind's search, and the payment on it by its path. More pages follow. ID stands for the attempt.
type searched struct{ list, page, path, one string }

// searches are the kinds whose search has pages. The payment on the first page has failed, or belongs to another attempt.
var searches = map[string]searched{
	"checkout": {
		"/payments", `{"limit":50,"skip":0,"total_count":51,"data":[{"id":"pay_1","reference":"ID"}]}`,
		"/payments/pay_1", `{"id":"pay_1","status":"Declined","response_code":"20005","reference":"ID","amount":1999,"currency":"EUR"}`,
	},
	"lemonsqueezy": {"/checkouts", `{"data":[{"type":"checkouts","id":"1","attributes":{"store_id":1}}],"meta":{"page":{"lastPage":2}}}`, "", ""},
	"paddle": {
		"/transactions", `{"data":[{"id":"txn_1","status":"canceled","custom_data":{"payment_attempt_id":"ID"}}],"meta":{"pagination":{"has_more":true}}}`, "", "",
	},
	"square": {
		"/v2/payments", `{"payments":[{"id":"p1","status":"FAILED","reference_id":"ID","amount_money":{"amount":1999,"currency":"EUR"}}],"cursor":"c"}`, "", "",
	},
	"stripe": {
		"/v1/payment_intents/search", `{"object":"search_result","data":[{"id":"pi_1","object":"payment_intent","metadata":{"payment_attempt_id":"ID"}}],"has_more":true}`,
		"/v1/payment_intents/pi_1", `{"id":"pi_1","object":"payment_intent","status":"canceled","amount":1999,"currency":"eur","metadata":{"payment_attempt_id":"ID"}}`,
	},
	"yookassa": {"/payments", `{"type":"list","items":[{"id":"o1","status":"canceled","metadata":{}}],"next_cursor":"c"}`, "", ""},
}

// unpaged are the kinds whose search has no pages, and the reasons.
var unpaged = map[string]string{
	"braintree":     "the search returns the ids of all transactions",
	"cloudpayments": "the search returns one payment",
	"razorpay":      "an attempt has one link or one order",
	"robokassa":     "an invoice number has one operation",
	"sandbox":       "it is no search",
	"standard":      "the contract's list has no pages",
	"tbank":         "the response has all payments of an order",
}

// Find concludes nothing from the first page of several: the customer may have paid by a payment on another page.
func TestASearchDoesNotEndWithItsFirstPage(t *testing.T) {
	t.Parallel()
	for _, kind := range provider.Callable() {
		p, err := provider.New(kind, kit.Settings{BaseURL: "http://127.0.0.1:1", Client: provider.NewHTTPClient(), Params: map[string]string{"webhook_secret": "secret"}})
		require.NoError(t, err, kind)
		of, pages := searches[kind]
		switch by := p.Capabilities().Lookup; {
		case !pages:
			finds := by == payment.LookupByReference || by == payment.LookupConsistent
			require.Equal(t, finds, unpaged[kind] != "", kind)
			continue
		case unpaged[kind] != "":
			require.Fail(t, "two answers", kind)
		}
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			id := payment.AttemptID(uuid.Must(uuid.NewV7()))
			said := map[string]string{of.list: of.page, of.path: of.one}
			read := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				path, body := r.URL.Path, ""
				for end, text := range said {
					if end != "" && strings.HasSuffix(path, end) {
						body = text
					}
				}
				if strings.HasSuffix(path, of.list) {
					read++
				}
				if body == "" || read > 1 && strings.HasSuffix(path, of.list) {
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(strings.ReplaceAll(body, "ID", id.String())))
			}))
			t.Cleanup(server.Close)
			p, err := provider.New(kind, kit.Settings{BaseURL: server.URL, Client: server.Client(), Params: map[string]string{
				"webhook_secret": "secret", "api_key": "key", "secret_key": "sk_test_1", "store_currency": "EUR", "store_id": "1", "variant_id": "1",
			}})
			require.NoError(t, err)
			o, err := p.Find(t.Context(), id)
			require.Error(t, err, "it is %s by the first page", o.Event)
			require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
			require.True(t, read > 1 || errors.Is(err, gateway.ErrInconclusive), "%d pages were read: %v", read, err)
		})
	}
}
