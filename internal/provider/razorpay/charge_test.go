package razorpay_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestAChargeIsOnePaymentLink(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	ch := charge("redirect")
	o := charged(t, c, ch)
	require.Equal(t, fsm.EventActionRequired, o.Event)
	require.Equal(t, "https://rzp.io/i/"+o.Container, o.NextAction.URL)

	sent := <-got
	require.Equal(t, "POST /v1/payment_links/", sent.line)
	id, key, ok := (&http.Request{Header: sent.header}).BasicAuth()
	require.True(t, ok)
	require.Equal(t, []string{keyID, secret}, []string{id, key})
	require.JSONEq(t, `{"amount":199900,"currency":"INR","reference_id":"`+ch.Attempt.String()+`","description":"A-1",
		"accept_partial":false,"reminder_enable":false,"notify":{"sms":false,"email":false},
		"notes":{"payment_attempt_id":"`+ch.Attempt.String()+`","order_id":"A-1"},
		"callback_url":"https://shop.example/back","callback_method":"get"}`, sent.body)
}

func TestWhatDiffersByTheCharge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		token  string
		change func(*gateway.Charge)
		want   string
	}{
		"one method":     {"upi", func(*gateway.Charge) {}, `"options":{"checkout":{"method":{"card":false,"netbanking":false,"upi":true,"wallet":false}}}`},
		"yen":            {"redirect", func(c *gateway.Charge) { c.Money = payment.Money{Minor: 1999, Currency: "JPY"} }, `"amount":1999,"currency":"JPY"`},
		"three decimals": {"redirect", func(c *gateway.Charge) { c.Money = payment.Money{Minor: 99990, Currency: "KWD"} }, `"amount":99990,"currency":"KWD"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, got := serve(t, newFake(t))
			ch := charge(c.token)
			c.change(&ch)
			charged(t, client, ch)
			require.Contains(t, (<-got).body, c.want)
		})
	}
	c, got := serve(t, newFake(t))
	ch := charge("redirect")
	ch.ReturnURL = ""
	charged(t, c, ch)
	require.NotContains(t, (<-got).body, "callback")
}

func TestWhatRazorpayCannotTakeIsNotSent(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	for _, token := range []string{"", "tok_visa", "emi"} {
		_, err := c.Charge(t.Context(), charge(token))
		require.ErrorIs(t, err, gateway.ErrUnsupportedRequest, token)
	}
	odd := payment.Money{Minor: 99991, Currency: "KWD"}
	ch := charge("redirect")
	ch.Money = odd
	_, err := c.Charge(t.Context(), ch)
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	_, err = c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "pay_1", Money: odd, Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)

	ch = charge("redirect")
	ch.Capture = payment.CaptureManual
	_, err = c.Charge(t.Context(), ch)
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest, "a first try fails by that at once")
	require.ErrorIs(t, err, gateway.ErrUnsupported)
	_, err = c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: "pay_1", Money: rupees(1), Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupported)
	require.Empty(t, got)
}

// The reference replaces an idempotency key: Razorpay refuses a second link, and the adapter finds the first.
func TestASecondLinkOfAnAttemptIsTheFirst(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, got := serve(t, f)
	ch := charge("redirect")
	first := charged(t, c, ch)
	require.Equal(t, first, charged(t, c, ch))
	f.pay(first.Container)
	require.Equal(t, fsm.EventSucceeded, charged(t, c, ch).Event)
	require.Len(t, f.links, 1)
	<-got
	<-got
	require.Equal(t, "GET /v1/payment_links/?reference_id="+ch.Attempt.String(), (<-got).line)
}

// If the search fails, the adapter does not know whether there is a link.
func TestARefusalWhoseReasonIsNotKnown(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		status, said := refuse("payment link creation with reference ID already attempted")
		write(w, status, said)
	}))
	_, err := c.Charge(t.Context(), charge("redirect"))
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNotSent)
}

func TestARefusal(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	ch := charge("redirect")
	ch.Money = rupees(99)
	want := gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "input_validation_failed")}
	require.Equal(t, want, charged(t, c, ch))
	<-got
	require.Contains(t, (<-got).line, "GET", "no link was made before either")

	for description, status := range map[string]int{
		"Key expired": 401, "Authentication failed.": 400, "The api key provided is invalid": 400, "The API {key/secret} provided is invalid.": 400,
	} {
		raw, err := json.Marshal(problem(description, "NA", ""))
		require.NoError(t, err)
		o := charged(t, says(t, status, string(raw)), charge("redirect"))
		require.Equal(t, payment.NewFailure("provider_rejected", "BAD_REQUEST_ERROR"), o.Failure)
		require.True(t, o.Refused)
	}
}

// Such an answer concerns another call, or is transient.
func TestErrorsThatLeaveTheOutcomeOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"another is at it":    {409, `{"error":{"code":"BAD_REQUEST_ERROR","description":"Request in progress"}}`},
		"key of another call": {400, `{"error":{"code":"BAD_REQUEST_ERROR","description":"Different request with the same idempotency key has already been processed."}}`},
		"gateway":             {400, `{"error":{"code":"GATEWAY_ERROR","description":"Payment failed"}}`},
		"server":              {500, `{"error":{"code":"SERVER_ERROR"}}`},
		"rate limit":          {429, `{"error":{"code":"BAD_REQUEST_ERROR","description":"Too many requests"}}`},
		"created":             {201, `{"id":"plink_1","status":"paid","amount_paid":1,"currency":"INR"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := says(t, c.status, c.body)
			_, err := client.Charge(t.Context(), charge("redirect"))
			require.Error(t, err)
			require.NotErrorIs(t, err, gateway.ErrNotSent)
			_, err = client.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "pay_1", Money: rupees(100), IdempotencyKey: "0123456789", Permit: permit()})
			require.Error(t, err)
			require.NotErrorIs(t, err, gateway.ErrNotSent)
		})
	}
}

// Razorpay's description quotes the request, and our errors go into logs.
func TestErrorsKeepRazorpaysDescription(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(problem("Jane Doe", "NA", "f"))
	require.NoError(t, err)
	_, err = says(t, http.StatusConflict, string(raw)).Lookup(t.Context(), "plink_1")
	require.EqualError(t, err, "razorpay responded with 409 BAD_REQUEST_ERROR f")
}

// A wrong address is a mistake of ours and not a missing payment. Razorpay answers both with 400.
func TestAnUnknownAddressIsNoAnswer(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(problem("The requested URL was not found on the server.", "NA", ""))
	require.NoError(t, err)
	_, err = says(t, http.StatusBadRequest, string(raw)).Lookup(t.Context(), "plink_1")
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
}
