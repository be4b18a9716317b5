package adyen_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/adyen"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

var _ gateway.Provider = (*adyen.Client)(nil)

func TestAChargeIsOnePayment(t *testing.T) {
	t.Parallel()
	base, c, seen := serve(t, newFake())
	ch := charge(cardOK)
	o := charged(t, client(base, "automatic", c), ch)
	money := euro(1999)
	require.Equal(t, gateway.Outcome{Event: fsm.EventSucceeded, ProviderPaymentID: o.ProviderPaymentID, Money: &money}, o)

	sent := <-seen
	require.Equal(t, "POST /v72/payments", sent.line)
	require.Equal(t, "0123-pay", sent.header.Get("Idempotency-Key"))
	require.Equal(t, apiKey, sent.header.Get("X-API-Key"))
	require.JSONEq(t, `{"merchantAccount":"PaylatchECOM","reference":"`+ch.Attempt.String()+`","merchantOrderReference":"A-1",
		"amount":{"value":1999,"currency":"EUR"},"returnUrl":"https://shop.example/back","shopperReference":"u-1",
		"shopperInteraction":"ContAuth","recurringProcessingModel":"CardOnFile","captureDelayHours":0,
		"paymentMethod":{"type":"scheme","storedPaymentMethodId":"M5N7TQ4TG5PFWR50"}}`, sent.body)
}

func TestWhatDiffersByTheCharge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(*gateway.Charge)
		capture string
		want    map[string]string // members of the body as JSON; empty: absent
	}{
		"manual": {
			func(c *gateway.Charge) { c.Capture = payment.CaptureManual }, "manual",
			map[string]string{"additionalData": `{"manualCapture":"true"}`, "captureDelayHours": ""},
		},
		"a component's payment method": {
			func(c *gateway.Charge) { c.Token, c.Stored = `{"type":"blik","blikCode":"777987"}`, false }, "automatic",
			map[string]string{"paymentMethod": `{"type":"blik","blikCode":"777987"}`, "shopperInteraction": "", "recurringProcessingModel": ""},
		},
		"no decimals":       {money(1999, "JPY"), "automatic", map[string]string{"amount": `{"value":1999,"currency":"JPY"}`}},
		"three decimals":    {money(1999, "KWD"), "automatic", map[string]string{"amount": `{"value":1999,"currency":"KWD"}`}},
		"two decimals here": {money(19, "CLP"), "automatic", map[string]string{"amount": `{"value":1900,"currency":"CLP"}`}},
		"two decimals, too": {money(19, "ISK"), "automatic", map[string]string{"amount": `{"value":1900,"currency":"ISK"}`}},
		"none here":         {money(1900, "IDR"), "automatic", map[string]string{"amount": `{"value":19,"currency":"IDR"}`}},
		"none here for CVE": {money(1900, "CVE"), "automatic", map[string]string{"amount": `{"value":19,"currency":"CVE"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, hc, seen := serve(t, newFake())
			ch := charge(cardOK)
			c.change(&ch)
			o := charged(t, client(base, c.capture, hc), ch)
			require.Equal(t, ch.Money, *o.Money)
			var got map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte((<-seen).body), &got))
			for member, want := range c.want {
				if want == "" {
					require.NotContains(t, got, member)
					continue
				}
				require.JSONEq(t, want, string(got[member]))
			}
		})
	}
}

func money(minor int64, currency payment.Currency) func(*gateway.Charge) {
	return func(c *gateway.Charge) { c.Money = payment.Money{Minor: minor, Currency: currency} }
}

// Adyen accepts shopper references of three characters or more. A method without an owner is charged without a
// reference; a stored method can't be.
func TestAUserWhomAdyenHasNoNameFor(t *testing.T) {
	t.Parallel()
	providertest.NeedDescribed(t, document)
	h := providertest.Described(t, document, "/v72", newFake())
	base, hc, seen := serve(t, h)
	c := client(base, "automatic", hc)
	for i, user := range []string{"", "7", "42", "éé"} {
		ch := charge(methodRedirect)
		ch.Customer.Reference, ch.IdempotencyKey = user, "pay-"+string(rune('a'+i))
		require.Equal(t, fsm.EventActionRequired, charged(t, c, ch).Event)
		require.NotContains(t, (<-seen).body, "shopperReference")
		ch.Token = cardOK
		_, err := c.Charge(t.Context(), ch)
		require.ErrorIs(t, err, gateway.ErrUnsupportedRequest, user)
		require.Empty(t, seen)
	}
	for _, token := range []string{cardOK, methodRedirect} {
		ch := charge(token)
		ch.Customer.Reference, ch.IdempotencyKey = "123", "pay-"+token
		charged(t, c, ch)
		require.Contains(t, (<-seen).body, `"shopperReference":"123"`)
	}
}

// All requests fit Adyen's own description.
func TestRequestsFitAdyensDescription(t *testing.T) {
	t.Parallel()
	providertest.NeedDescribed(t, document)
	h := providertest.Described(t, document, "/v72", newFake())
	base, hc, _ := serve(t, h)
	atOnce, byCommand := client(base, "automatic", hc), client(base, "", hc)
	for i, token := range []string{cardOK, cardRefused, cardPending, cardNone, methodRedirect, `{"type":"paypal","subtype":"redirect"}`} {
		ch := charge(token)
		ch.IdempotencyKey = "pay-" + string(rune('a'+i))
		charged(t, atOnce, ch)
	}
	held := manual()
	held.IdempotencyKey = "held"
	o := charged(t, byCommand, held)
	_, err := byCommand.Capture(t.Context(), gateway.Capture{
		Attempt: held.Attempt, ProviderPaymentID: o.ProviderPaymentID, Money: euro(500), IdempotencyKey: "c", Permit: permit(),
	})
	require.NoError(t, err)
	_, err = byCommand.Cancel(t.Context(), gateway.Cancel{
		Attempt: held.Attempt, ProviderPaymentID: o.ProviderPaymentID, IdempotencyKey: "x", Permit: permit(),
	})
	require.NoError(t, err)
	_, err = byCommand.Refund(t.Context(), gateway.RefundCall{
		ProviderPaymentID: o.ProviderPaymentID, Money: euro(500), IdempotencyKey: "r", Permit: permit(),
	})
	require.NoError(t, err)
}

// An AUTHORISATION does not contain the capture mode, so an account with both modes would be ambiguous.
func TestAnAccountCapturesInOneWay(t *testing.T) {
	t.Parallel()
	base, hc, seen := serve(t, newFake())
	_, err := client(base, "automatic", hc).Charge(t.Context(), manual())
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	_, err = client(base, "", hc).Charge(t.Context(), charge(cardOK))
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	require.ErrorContains(t, err, "capture")
	require.Empty(t, seen)
	require.Equal(t, payment.CapturesNone, client(base, "automatic", hc).Capabilities().Captures)
	require.Equal(t, payment.CapturesOpen, client(base, "manual", hc).Capabilities().Captures)
}

func TestACardNumberIsNotPassedOn(t *testing.T) {
	t.Parallel()
	base, hc, seen := serve(t, newFake())
	for _, token := range []string{
		`{"type":"scheme","number":"4111111111111111"}`, `{"type":"scheme","encryptedCardNumber":"x","cvc":"737"}`,
		`{"type":"scheme","Number":"4111111111111111"}`, `{"type":"scheme","expiryMonth":"03"}`, `{"type":`,
	} {
		_, err := client(base, "automatic", hc).Charge(t.Context(), charge(token))
		require.ErrorIs(t, err, gateway.ErrUnsupportedRequest, token)
		require.NotContains(t, err.Error(), "4111")
	}
	require.Empty(t, seen)
}

func TestAnAmountThatAdyenHasNoDigitsForIsNotSent(t *testing.T) {
	t.Parallel()
	base, hc, seen := serve(t, newFake())
	odd := payment.Money{Minor: 1950, Currency: "IDR"}
	c, ch := client(base, "", hc), manual()
	ch.Money = odd
	_, err := c.Charge(t.Context(), ch)
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	_, err = c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: "1", Money: odd, Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	_, err = c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "1", Money: odd, Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	require.Empty(t, seen)
}

// A key that is used with another amount belongs to the first payment. Adyen repeats the first answer, which names that
// payment.
func TestAKeyOfAnotherPaymentShowsThatPayment(t *testing.T) {
	t.Parallel()
	base, hc, _ := serve(t, newFake())
	c, ch := client(base, "automatic", hc), charge(cardOK)
	first := charged(t, c, ch)
	ch.Money = euro(5)
	require.Equal(t, first, charged(t, c, ch))
}

func TestARefusedChargeSaysWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		code   string
	}{
		"malformed": {400, "702"}, "no return URL": {422, "14_030"}, "no such method": {422, "800"},
		"bad key": {401, "000"}, "another's account": {403, "901"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := charged(t, says(t, c.status, `{"status":1,"errorCode":"`+c.code+`","errorType":"validation","message":"m"}`), charge(cardOK))
			require.Equal(t, gateway.Outcome{
				Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", c.code),
			}, o)
		})
	}
}

// Such an answer concerns another call with the key, or is transient.
func TestErrorsThatLeaveTheOutcomeOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*adyen.Client{
		"in progress":      says(t, 422, `{"errorCode":"704","errorType":"validation"}`),
		"unavailable":      says(t, 422, `{"errorCode":"703","errorType":"internal"}`),
		"marked transient": says(t, 422, `{"errorCode":"800","errorType":"validation"}`, "transient-error", "true"),
		"too many":         says(t, 429, `{"errorCode":"1","errorType":"security"}`),
		"not implemented":  says(t, 501, `{"errorCode":"905","errorType":"configuration"}`),
		"conflict":         says(t, 409, `{"errorCode":"1","errorType":"validation"}`),
		"codeless":         says(t, 422, `{"status":422,"message":"no"}`),
		"no address":       says(t, 404, `{"errorCode":"1","errorType":"x"}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ch := charge(cardOK)
			_, err := c.Charge(t.Context(), ch)
			unknown(t, err)
			_, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: "1", Permit: permit()})
			unknown(t, err)
			_, err = c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "1", Permit: permit()})
			unknown(t, err)
		})
	}
}

func unknown(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNotSent)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
	require.NotErrorIs(t, err, gateway.ErrUnsupported)
	require.NotContains(t, err.Error(), "Jane")
}

func TestWithoutABaseAddressTheTestEnvironmentIsCalled(t *testing.T) {
	t.Parallel()
	var called string
	c := adyen.New(adyen.Account{Key: apiKey, Capture: "automatic"}, &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		called = r.URL.String()
		return nil, http.ErrHandlerTimeout
	})})
	_, err := c.Charge(t.Context(), charge(cardOK))
	require.Error(t, err)
	require.Equal(t, "https://checkout-test.adyen.com/v72/payments", called)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
