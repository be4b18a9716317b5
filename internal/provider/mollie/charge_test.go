package mollie_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/mollie"
)

func TestAChargeIsOnePayment(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	ch := charge("ideal")
	o := charged(t, c, ch)
	require.Equal(t, fsm.EventActionRequired, o.Event)
	require.Equal(t, "https://www.mollie.com/checkout/select-method/"+o.ProviderPaymentID, o.NextAction.URL)
	require.Equal(t, []string{ch.Attempt.String()}, o.References, "by which a notice's fetch finds the attempt")

	sent := <-got
	require.Equal(t, "POST /v2/payments", sent.line)
	require.Equal(t, ch.IdempotencyKey, sent.header.Get("Idempotency-Key"))
	require.Equal(t, "Bearer "+key, sent.header.Get("Authorization"))
	require.JSONEq(t, `{"amount":{"currency":"EUR","value":"19.99"},"description":"A-1","redirectUrl":"https://shop.example/back",
		"webhookUrl":"https://shop.example/webhooks/mollie","method":"ideal",
		"metadata":{"payment_attempt_id":"`+ch.Attempt.String()+`","order_id":"A-1"}}`, sent.body)
}

func TestWhatDiffersByTheCharge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		token  string
		change func(*gateway.Charge)
		want   map[string]any
	}{
		"the customer chooses": {"redirect", func(*gateway.Charge) {}, map[string]any{"method": nil, "cardToken": nil}},
		"card token":           {"tkn_12345", func(*gateway.Charge) {}, map[string]any{"method": "creditcard", "cardToken": "tkn_12345"}},
		"customer":             {"cst_1", func(*gateway.Charge) {}, map[string]any{"sequenceType": "recurring", "customerId": "cst_1", "mandateId": nil, "method": nil}},
		"mandate":              {"cst_1:mdt_2", func(*gateway.Charge) {}, map[string]any{"sequenceType": "recurring", "customerId": "cst_1", "mandateId": "mdt_2"}},
		"manual":               {"creditcard", func(c *gateway.Charge) { c.Capture = payment.CaptureManual }, map[string]any{"captureMode": "manual"}},
		"nowhere to return to": {"cst_1", func(c *gateway.Charge) { c.ReturnURL = "" }, map[string]any{"redirectUrl": nil}},
		"yen":                  {"cst_1", func(c *gateway.Charge) { c.Money = payment.Money{Minor: 1999, Currency: "JPY"} }, map[string]any{"amount": map[string]any{"currency": "JPY", "value": "1999"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, got := serve(t, newFake(t))
			ch := charge(c.token)
			c.change(&ch)
			charged(t, client, ch)
			var sent map[string]any
			require.NoError(t, json.Unmarshal([]byte((<-got).body), &sent))
			for name, want := range c.want {
				require.Equal(t, want, sent[name], name)
			}
		})
	}
}

func TestWithoutAnAddressThereIsNoWebhook(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	var body []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		f.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	charged(t, mollie.New(s.URL, key, "", s.Client()), charge("ideal"))
	require.NotContains(t, string(body), "webhookUrl")
}

func TestWithoutABaseAddressMollieIsCalled(t *testing.T) {
	t.Parallel()
	var called string
	c := mollie.New("", key, "", &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		called = r.URL.String()
		return nil, http.ErrHandlerTimeout
	})})
	_, err := c.Lookup(t.Context(), "tr_1")
	require.ErrorIs(t, err, http.ErrHandlerTimeout)
	require.Equal(t, "https://api.mollie.com/v2/payments/tr_1?embed=captures,refunds,chargebacks", called)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAnAmountOfNoCurrencyIsNotSent(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	odd := payment.Money{Minor: 1, Currency: "XYZ"}
	ch := charge("ideal")
	ch.Money = odd
	_, err := c.Charge(t.Context(), ch)
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	_, err = c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: "tr_1", Money: odd, Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	_, err = c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "tr_1", Money: odd, Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	require.Empty(t, got)
}

func TestADeclineSaysWhy(t *testing.T) {
	t.Parallel()
	for customer, want := range map[string]*payment.Failure{
		"cst_nomoney": payment.NewFailure("insufficient_funds", "insufficient_funds"),
		"cst_nocard":  payment.NewFailure("card_declined", "refused_by_issuer"),
		"cst_nowhy":   payment.NewFailure("provider_rejected", ""),
	} {
		c, _ := serve(t, newFake(t))
		o := charged(t, c, charge(customer))
		require.Equal(t, fsm.EventFailed, o.Event, "a failed payment of Mollie's can't be tried again")
		require.Equal(t, want, o.Failure)
		require.False(t, o.Refused)
	}
}

func TestADirectDebitIsUnderWay(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	require.Equal(t, fsm.EventProcessing, charged(t, c, charge("cst_debit")).Event)
}

func TestARefusalNamesTheField(t *testing.T) {
	t.Parallel()
	for status, code := range map[int]string{400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 422: "method"} {
		field := map[bool]string{true: "method"}[status == 422]
		raw, err := json.Marshal(problem(status, field))
		require.NoError(t, err)
		o := charged(t, says(t, status, string(raw)), charge("nonsense"))
		require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", code)}, o)
	}
}

// Such an answer concerns another call, or is transient.
func TestErrorsThatLeaveTheOutcomeOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"rate limit":        {429, `{"status":429,"title":"Too Many Requests"}`},
		"unavailable":       {503, `{"status":503,"title":"Service Unavailable"}`},
		"accepted":          {202, `{"resource":"payment","id":"tr_1","status":"paid"}`},
		"another's status":  {422, `{"status":400,"title":"x"}`},
		"not Mollie's form": {404, `{"message":"no Route matched"}`},
		"nor this":          {409, `{"message":"in progress"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := says(t, c.status, c.body)
			_, err := client.Charge(t.Context(), charge("ideal"))
			require.Error(t, err)
			require.NotErrorIs(t, err, gateway.ErrNotSent)
			_, err = client.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "tr_1", Money: euro(1), Permit: permit()})
			require.Error(t, err)
			require.NotErrorIs(t, err, gateway.ErrNotSent)
			_, err = client.Lookup(t.Context(), "tr_1")
			require.Error(t, err)
			require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
		})
	}
}

// For a payment or a capture, a conflict does not show that the other request is not this one.
func TestAConflictRefusesNothingButARefund(t *testing.T) {
	t.Parallel()
	c := says(t, http.StatusConflict, `{"status":409,"title":"Conflict","detail":"d"}`)
	_, err := c.Charge(t.Context(), charge("ideal"))
	require.Error(t, err)
	_, err = c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: "tr_1", Money: euro(1), Permit: permit()})
	require.Error(t, err)
	_, err = c.Lookup(t.Context(), "tr_1")
	require.Error(t, err)
}

// Mollie's detail quotes the request, and our errors go into logs.
func TestErrorsKeepMolliesDetail(t *testing.T) {
	t.Parallel()
	c := says(t, http.StatusConflict, `{"status":409,"title":"Conflict","detail":"Jane Doe","field":"f"}`)
	_, err := c.Charge(t.Context(), charge("ideal"))
	require.EqualError(t, err, "mollie responded with 409 Conflict f")
}

// A rejected key is no evidence about an earlier call, which may have succeeded.
func TestAKeyThatIsTurnedAwayRefusesOneCall(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		raw, err := json.Marshal(problem(status, ""))
		require.NoError(t, err)
		r, err := says(t, status, string(raw)).Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "tr_1", Money: euro(1), Permit: permit()})
		require.NoError(t, err)
		require.Equal(t, gateway.RefusedRefund(http.StatusText(status)), r)
	}
}
