package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/all"
)

// CloudPayments sends a question before it charges; Braintree tests the endpoint.
func TestWhatIsNotNewsIsAnsweredAndNotTakenIn(t *testing.T) {
	t.Parallel()
	cloud, err := all.New("cloudpayments", webhooks.Config{Secrets: []string{"secret-of-the-test"}})
	require.NoError(t, err)
	braintree, err := all.New("braintree", webhooks.Config{Secrets: []string{"private"}, Params: map[string]string{"public_key": "public"}})
	require.NoError(t, err)
	p := &payments{intake: func(context.Context, []payment.ReceivedEvent) ([]fsm.Verdict, error) {
		return []fsm.Verdict{fsm.Applied}, nil
	}}
	h := api.New(api.Options{
		Payments: p, Reads: p, Deliveries: p, Auth: tokens{},
		Accounts: current.Of(map[string]api.WebhookAccount{"cloud": {Verifier: cloud}, "braintree": {Verifier: braintree}}),
	})

	question := webhooks.Delivery{
		Method: http.MethodPost, Topic: "check", ReceivedAt: time.Now(),
		Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
		Body:   []byte(url.Values{"TransactionId": {"7"}, "Amount": {"19.99"}, "Currency": {"RUB"}, "InvoiceId": {"a"}}.Encode()),
	}
	signer, ok := cloud.(webhooks.Signer)
	require.True(t, ok)
	require.NoError(t, signer.Sign(&question))
	asked := httptest.NewRequest(http.MethodPost, "/webhooks/cloud/check", strings.NewReader(string(question.Body)))
	asked.Header = question.Header
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, asked)
	require.Equal(t, http.StatusOK, answer.Code)
	require.JSONEq(t, `{"code":0}`, answer.Body.String())

	require.Empty(t, answer.Header().Get("Webhook-Result"))
	require.Empty(t, p.received)

	news := question
	news.Topic, news.Header = "pay", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	require.NoError(t, signer.Sign(&news))
	told := httptest.NewRequest(http.MethodPost, "/webhooks/cloud/pay", strings.NewReader(string(news.Body)))
	told.Header = news.Header
	taken := httptest.NewRecorder()
	h.ServeHTTP(taken, told)
	require.Equal(t, http.StatusOK, taken.Code)
	require.Equal(t, "applied", taken.Header().Get("Webhook-Result"))
	require.Len(t, p.received, 1, "of the same provider, and taken in")

	tried := httptest.NewRecorder()
	h.ServeHTTP(tried, httptest.NewRequest(http.MethodGet, "/webhooks/braintree?bt_challenge=20f9f8ed05f77439fe955c977e4c8a53", nil))
	require.Equal(t, http.StatusOK, tried.Code)
	require.True(t, strings.HasPrefix(tried.Body.String(), "public|"), tried.Body.String())
	require.Empty(t, tried.Header().Get("Webhook-Result"))

	odd := httptest.NewRecorder()
	h.ServeHTTP(odd, httptest.NewRequest(http.MethodGet, "/webhooks/braintree?bt_challenge=zz%0a", nil))
	require.Equal(t, http.StatusBadRequest, odd.Code)
	require.Contains(t, odd.Body.String(), `"code":"webhook-payload-invalid"`)
}
