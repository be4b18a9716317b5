package gocardless_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/dev/published"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/gocardless"
	"github.com/paylatch/paylatch/internal/provider/gocardless/gocardlesstest"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/gocardless"
)

// answering returns a client of a server that gives these paths these answers. It answers other paths like GoCardless
// does for a missing object.
func answering(t *testing.T, answers map[string]string) *gocardless.Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.Header.Get("Authorization") != "Bearer token" || r.Header.Get("Gocardless-Version") != "2015-07-06" {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
		}
		answer, there := answers[r.URL.Path]
		if !there {
			w.WriteHeader(http.StatusNotFound)
			answer = `{"error":{"type":"invalid_api_usage","code":404,"message":"Resource not found","errors":[]}}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return gocardless.New(s.URL, "token", s.Client())
}

func TestLookup(t *testing.T) {
	t.Parallel()
	eur := &payment.Money{Minor: 1999, Currency: "EUR"}
	for status, want := range map[string]gateway.Outcome{
		"pending_customer_approval": {Event: fsm.EventActionRequired},
		"pending_submission":        {Event: fsm.EventProcessing},
		"submitted":                 {Event: fsm.EventProcessing},
		"of_the_future":             {Event: fsm.EventProcessing},
		"confirmed":                 {Event: fsm.EventSucceeded, Money: eur},
		"paid_out":                  {Event: fsm.EventSucceeded, Money: eur},
		"charged_back":              {Event: fsm.EventSucceeded, Money: eur, Movements: []payment.MovementReport{{Kind: payment.MovementChargeback, Money: *eur}}},
		"failed":                    {Event: fsm.EventFailed, Reverses: true, Failure: payment.NewFailure("provider_rejected", "")},
		"cancelled":                 {Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "")},
		"customer_approval_denied":  {Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "")},
	} {
		c := answering(t, map[string]string{
			"/payments/PM1": `{"payments":{"id":"PM1","status":"` + status + `","amount":1999,"currency":"EUR","metadata":{"payment_attempt_id":"att_1"}}}`,
		})
		want.ProviderPaymentID, want.References = "PM1", []string{"att_1"}
		got, err := c.Lookup(t.Context(), "PM1")
		require.NoError(t, err, status)
		require.Equal(t, want, got, status)
	}
}

// A failure is not final if GoCardless may collect the same payment again.
func TestLookupOfWhatIsTriedAgain(t *testing.T) {
	t.Parallel()
	c := answering(t, map[string]string{"/payments/PM1": `{"payments":{"id":"PM1","status":"failed","amount":1,"currency":"EUR","retry_if_possible":true}}`})
	got, err := c.Lookup(t.Context(), "PM1")
	require.NoError(t, err)
	require.Equal(t, fsm.EventSoftFailed, got.Event)
}

func TestLookupRefund(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]fsm.Event{
		"created": fsm.EventProcessing, "pending_submission": fsm.EventProcessing, "submitted": fsm.EventProcessing, "paid": fsm.EventSucceeded,
		"cancelled": fsm.EventFailed, "bounced": fsm.EventFailed, "failed": fsm.EventFailed, "funds_returned": fsm.EventFailed,
	} {
		c := answering(t, map[string]string{
			"/refunds/RF1": `{"refunds":{"id":"RF1","status":"` + status + `","amount":700,"currency":"EUR","metadata":{"refund_id":"r1"},"links":{"payment":"PM1"}}}`,
		})
		got, err := c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "RF1"})
		require.NoError(t, err, status)
		require.Equal(t, want, got.Event, status)
		require.Equal(t, want == fsm.EventFailed, got.Failure != nil, status)
		require.Equal(t, []any{"RF1", "PM1", "r1", payment.Money{Minor: 700, Currency: "EUR"}},
			[]any{got.ProviderRefundID, got.ProviderPaymentID, got.Reference, *got.Money})
		_, err = c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "RF1", ProviderPaymentID: "PM2"})
		require.ErrorIs(t, err, gateway.ErrNoSuchPayment, "it is of another payment")
	}
}

func TestNothingIsMadeOfOtherAnswers(t *testing.T) {
	t.Parallel()
	_, err := answering(t, nil).Lookup(t.Context(), "PM/../1")
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
	for _, answer := range []string{"", "<html>", "null", "{}", `{"payments":{"id":"PM1"}}`, `{"payments":{"id":"PM1","status":"confirmed","amount":-1,"currency":"EUR"}}`} {
		_, err := answering(t, map[string]string{"/payments/PM1": answer}).Lookup(t.Context(), "PM1")
		require.Error(t, err, answer)
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, answer)
	}
	proxy := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(proxy.Close)
	_, err = gocardless.New(proxy.URL, "token", proxy.Client()).Lookup(t.Context(), "PM1")
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, "a proxy knows of no payment")
}

// TestSamples reads the bodies in the tests of GoCardless's own client, if they are available.
func TestSamples(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(published.Path(t, published.Specs, "gocardless-samples.json"))
	require.NoError(t, err)
	type sample struct {
		Get struct {
			Body json.RawMessage `json:"body"`
		} `json:"get"`
	}
	var samples struct {
		Payments sample `json:"payments"`
		Refunds  sample `json:"refunds"`
	}
	require.NoError(t, json.Unmarshal(raw, &samples))
	c := answering(t, map[string]string{"/payments/PM123": string(samples.Payments.Get.Body), "/refunds/RF123": string(samples.Refunds.Get.Body)})
	paid, err := c.Lookup(t.Context(), "PM123")
	require.NoError(t, err)
	refund, err := c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "RF123", ProviderPaymentID: "PM123"})
	require.NoError(t, err)
	require.Equal(t, "PM123 processing; RF123 processing 150 EUR",
		fmt.Sprintf("%s %s; %s %s %d %s", paid.ProviderPaymentID, paid.Event, refund.ProviderRefundID, refund.Event, refund.Money.Minor, refund.Money.Currency))
}

// If the payment has a refunded amount, its refunds are listed page by page.
func TestLookupShowsRefunds(t *testing.T) {
	t.Parallel()
	const paid = `{"payments":{"id":"PM1","status":"paid_out","amount":1999,"amount_refunded":700,"currency":"EUR","metadata":{}}}`
	refund := func(id, status, reference string) string {
		return `{"id":"` + id + `","status":"` + status + `","amount":700,"currency":"EUR","metadata":{"refund_id":"` + reference + `"},"links":{"payment":"PM1"}}`
	}
	pages := map[string]string{
		"":    `{"refunds":[` + refund("RF2", "failed", "") + `],"meta":{"cursors":{"before":null,"after":"RF2"},"limit":500}}`,
		"RF2": `{"refunds":[` + refund("RF1", "paid", "r1") + `],"meta":{"cursors":{"before":"RF1","after":null},"limit":500}}`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/payments/PM1" {
			_, _ = io.WriteString(w, paid)
			return
		}
		if q := r.URL.Query(); r.URL.Path != "/refunds" || q.Get("payment") != "PM1" || q.Get("limit") != "500" {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		_, _ = io.WriteString(w, pages[r.URL.Query().Get("after")])
	}))
	t.Cleanup(s.Close)
	got, err := gocardless.New(s.URL, "token", s.Client()).Lookup(t.Context(), "PM1")
	require.NoError(t, err)
	money := &payment.Money{Minor: 700, Currency: "EUR"}
	require.Equal(t, []gateway.RefundOutcome{
		{ProviderRefundID: "RF2", ProviderPaymentID: "PM1", Event: fsm.EventFailed, Failure: payment.NewFailure("provider_rejected", "failed"), Money: money},
		{ProviderRefundID: "RF1", ProviderPaymentID: "PM1", Reference: "r1", Event: fsm.EventSucceeded, Money: money},
	}, got.Refunds)

	_, err = answering(t, map[string]string{"/payments/PM1": paid}).Lookup(t.Context(), "PM1")
	require.Error(t, err, "a list that is not there is no list")
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
}

// TestOnePayment: the billing request is the container, and the payment that it created is the payment.
func TestOnePayment(t *testing.T) {
	t.Parallel()
	f := gocardlesstest.New()
	c, _ := serve(t, f)
	o := charged(t, c, charge("redirect"))
	made := f.Authorise(o.Container)
	v, err := hooks.New(webhooks.Config{Secrets: []string{"secret"}})
	require.NoError(t, err)
	fulfilled := `{"id":"EV1","resource_type":"billing_requests","action":"fulfilled","links":{"billing_request":"` + o.Container + `","payment_request_payment":"` + made + `"}}`
	confirmed := `{"id":"EV2","resource_type":"payments","action":"confirmed","links":{"payment":"` + made + `"}}`
	for _, e := range v.Read(webhooks.Delivery{Body: []byte(`{"events":[` + fulfilled + `,` + confirmed + `]}`)}) {
		providertest.NamedAlike(t, providertest.Paid{Provider: c, Charged: o, Webhook: e})
	}
}
