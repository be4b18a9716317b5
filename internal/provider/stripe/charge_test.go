package stripe_test

import (
	"maps"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	stripego "github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestAChargeIsOnePaymentIntentMadeAndConfirmed(t *testing.T) {
	t.Parallel()
	c, seen := serve(t, newFake(t))
	ch := charge("pm_card_visa")
	o := charged(t, c, ch)
	require.Equal(t, fsm.EventSucceeded, o.Event)
	require.Len(t, o.References, 1)
	require.Regexp(t, "^ch_", o.References[0])

	sent := <-seen
	require.Equal(t, "POST /v1/payment_intents", sent.line)
	require.Equal(t, "0123-pay", sent.header.Get("Idempotency-Key"))
	require.Equal(t, "Bearer "+secret, sent.header.Get("Authorization"))
	require.Equal(t, stripego.APIVersion, sent.header.Get("Stripe-Version"))
	got, err := url.ParseQuery(sent.body)
	require.NoError(t, err)
	want := url.Values{
		"amount": {"1999"}, "currency": {"eur"}, "confirm": {"true"}, "capture_method": {"automatic"}, "payment_method": {"pm_card_visa"},
		"automatic_payment_methods[enabled]": {"true"}, "automatic_payment_methods[allow_redirects]": {"always"},
		"return_url": {"https://shop.example/back"}, "metadata[payment_attempt_id]": {ch.Attempt.String()}, "metadata[order_id]": {"A-1"},
	}
	require.Equal(t, want, got)
}

func TestWhatDiffersByTheCharge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*gateway.Charge)
		want   url.Values
	}{
		"manual": {
			func(c *gateway.Charge) { c.Capture = payment.CaptureManual },
			url.Values{"capture_method": {"manual"}},
		},
		"nowhere to return to": {
			func(c *gateway.Charge) { c.ReturnURL = "" },
			url.Values{"automatic_payment_methods[allow_redirects]": {"never"}, "return_url": nil},
		},
		"card token": {
			func(c *gateway.Charge) { c.Token = "tok_visa" },
			url.Values{"payment_method": nil, "payment_method_data[type]": {"card"}, "payment_method_data[card][token]": {"tok_visa"}},
		},
		"confirmation token": {
			func(c *gateway.Charge) { c.Token = "ctoken_1" },
			url.Values{"payment_method": nil, "confirmation_token": {"ctoken_1"}},
		},
		"no decimals":            {money(1999, "JPY"), url.Values{"amount": {"1999"}, "currency": {"jpy"}}},
		"three decimals":         {money(1990, "KWD"), url.Values{"amount": {"1990"}, "currency": {"kwd"}}},
		"two decimals at Stripe": {money(19, "ISK"), url.Values{"amount": {"1900"}, "currency": {"isk"}}},
		"none at Stripe":         {money(1900, "MGA"), url.Values{"amount": {"19"}, "currency": {"mga"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, seen := serve(t, newFake(t))
			ch := charge("pm_card_visa")
			c.change(&ch)
			o := charged(t, client, ch)
			require.Contains(t, []fsm.Event{fsm.EventSucceeded, fsm.EventAuthorized}, o.Event)
			require.Equal(t, ch.Money, *o.Money)
			got, err := url.ParseQuery((<-seen).body)
			require.NoError(t, err)
			for name := range maps.Keys(c.want) {
				require.Equal(t, c.want[name], got[name], name)
			}
		})
	}
}

func money(minor int64, currency payment.Currency) func(*gateway.Charge) {
	return func(c *gateway.Charge) { c.Money = payment.Money{Minor: minor, Currency: currency} }
}

func TestAnAmountThatStripeHasNoDigitsForIsNotSent(t *testing.T) {
	t.Parallel()
	c, seen := serve(t, newFake(t))
	odd := payment.Money{Minor: 1950, Currency: "MGA"}
	ch := charge("pm_card_visa")
	ch.Money = odd
	_, err := c.Charge(t.Context(), ch)
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	_, err = c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: "pi_1", Money: odd, Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	_, err = c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "pi_1", Money: odd, Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	require.Empty(t, seen)
}

// A decline leaves a payment that could still succeed at Stripe.
func TestADeclineIsSoftAndSaysWhy(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	o := charged(t, c, charge("pm_card_visa_chargeDeclinedInsufficientFunds"))
	require.Equal(t, fsm.EventSoftFailed, o.Event)
	require.Equal(t, payment.NewFailure("insufficient_funds", "insufficient_funds"), o.Failure)
	now, err := c.Lookup(t.Context(), o.ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, o, now)
}

// Without an intent, no payment waits at Stripe. Only a declined card proves that no earlier call with the key was
// accepted.
func TestARefusalWithoutAnIntent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  int
		body    string
		failure *payment.Failure
		refused bool
	}{
		"invalid":   {400, `{"type":"invalid_request_error","code":"amount_too_small"}`, payment.NewFailure("provider_rejected", "amount_too_small"), true},
		"no method": {404, `{"type":"invalid_request_error","code":"resource_missing"}`, payment.NewFailure("provider_rejected", "resource_missing"), true},
		"codeless":  {400, `{"type":"invalid_request_error","message":"No."}`, payment.NewFailure("provider_rejected", ""), true},
		"bad key":   {401, `{"type":"invalid_request_error","code":"api_key_expired"}`, payment.NewFailure("provider_rejected", "api_key_expired"), true},
		"weak key":  {403, `{"type":"invalid_request_error"}`, payment.NewFailure("provider_rejected", ""), true},
		"card":      {402, `{"type":"card_error","code":"incorrect_number"}`, payment.NewFailure("card_declined", "incorrect_number"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := charged(t, says(t, c.status, `{"error":`+c.body+`}`), charge("pm_x"))
			require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Refused: c.refused, Failure: c.failure}, o)
		})
	}
}

// An intent that was created before the refusal still exists.
func TestARefusalWithAnIntentIsSoft(t *testing.T) {
	t.Parallel()
	c := says(t, http.StatusBadRequest, `{"error":{"type":"invalid_request_error","code":"payment_method_unactivated",
		"payment_intent":{"object":"payment_intent","id":"pi_1","status":"requires_confirmation"}}}`)
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventSoftFailed, ProviderPaymentID: "pi_1", Live: new(false), Failure: payment.NewFailure("provider_rejected", "payment_method_unactivated"),
	}, charged(t, c, charge("pm_x")))
}

// Such an answer concerns another call, or is transient.
func TestErrorsThatLeaveTheOutcomeOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"key in use":            {409, `{"type":"invalid_request_error","code":"idempotency_key_in_use"}`},
		"key of another call":   {400, `{"type":"idempotency_error"}`},
		"object locked":         {429, `{"type":"invalid_request_error","code":"lock_timeout"}`},
		"rate limit":            {429, `{"type":"invalid_request_error","code":"rate_limit"}`},
		"a dependency failed":   {424, `{"type":"api_error"}`},
		"api_error as a 400":    {400, `{"type":"api_error"}`},
		"not Stripe's own form": {400, `{"code":"x"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := says(t, c.status, `{"error":`+c.body+`}`)
			_, err := client.Charge(t.Context(), charge("pm_x"))
			require.Error(t, err)
			require.NotErrorIs(t, err, gateway.ErrNotSent)
			_, err = client.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "pi_1", Permit: permit()})
			require.Error(t, err)
			require.NotErrorIs(t, err, gateway.ErrNotSent)
		})
	}
}

// A rejected key is no evidence about an earlier call, which may have succeeded. It refuses this call only.
func TestAKeyThatIsTurnedAwayRefusesOneCall(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		c := says(t, status, `{"error":{"type":"invalid_request_error","code":"api_key_expired"}}`)
		refund, err := c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "pi_1", Permit: permit()})
		require.NoError(t, err)
		require.True(t, refund.Refused)
		require.Equal(t, fsm.EventFailed, refund.Event)
		require.Equal(t, "api_key_expired", refund.Failure.ProviderCode)
		_, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: "pi_1", Permit: permit()})
		require.Error(t, err)
		_, err = c.Lookup(t.Context(), "pi_1")
		require.Error(t, err)
		require.NotErrorIs(t, err, gateway.ErrNotSent)
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
	}
}

// Stripe's errors contain the whole payment, and our errors go into logs.
func TestErrorsKeepTheClientSecret(t *testing.T) {
	t.Parallel()
	c := says(t, http.StatusConflict, `{"error":{"type":"invalid_request_error","message":"Jane Doe",
		"payment_intent":{"id":"pi_1","client_secret":"pi_1_secret_x"}}}`)
	_, err := c.Charge(t.Context(), charge("pm_x"))
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")
	require.NotContains(t, err.Error(), "Jane")
}
