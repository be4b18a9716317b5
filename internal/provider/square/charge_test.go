package square_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/internal/provider/square"
)

var _ gateway.Provider = (*square.Client)(nil)

func TestAChargeIsOnePayment(t *testing.T) {
	t.Parallel()
	c, seen := serve(t, newFake())
	ch := charge(cardOK)
	o := charged(t, c, ch)
	taken := euro(1999)
	require.Len(t, o.References, 1, "the order that Square makes for it")
	require.Equal(t, gateway.Outcome{Event: fsm.EventSucceeded, ProviderPaymentID: o.ProviderPaymentID, Container: o.References[0], References: o.References, Money: &taken}, o)

	sent := <-seen
	require.Equal(t, "POST /v2/payments", sent.line)
	require.Equal(t, "Bearer "+secret, sent.header.Get("Authorization"))
	require.Equal(t, "2025-08-20", sent.header.Get("Square-Version"))
	require.JSONEq(t, `{"source_id":"cnon:card-nonce-ok","idempotency_key":"0123-pay","amount_money":{"amount":1999,"currency":"EUR"},
		"autocomplete":true,"reference_id":"`+ch.Attempt.String()+`","note":"Order A-1"}`, sent.body)
}

// A seller with several locations names the location of a payment.
func TestAPaymentIsOfTheLocation(t *testing.T) {
	t.Parallel()
	c, seen := serve(t, newFake())
	c.Location = "L88917AVBK2S5"
	charged(t, c, charge(cardOK))
	var sent map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte((<-seen).body), &sent))
	require.JSONEq(t, `"L88917AVBK2S5"`, string(sent["location_id"]))
}

func TestWhatDiffersByTheCharge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change       func(*gateway.Charge)
		member, want string
	}{
		"manual":         {func(c *gateway.Charge) { c.Capture = payment.CaptureManual }, "autocomplete", "false"},
		"no decimals":    {money(1999, "JPY"), "amount_money", `{"amount":1999,"currency":"JPY"}`},
		"three decimals": {money(1999, "KWD"), "amount_money", `{"amount":1999,"currency":"KWD"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, seen := serve(t, newFake())
			ch := charge(cardOK)
			c.change(&ch)
			require.Equal(t, ch.Money, *charged(t, client, ch).Money)
			var got map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte((<-seen).body), &got))
			require.JSONEq(t, c.want, string(got[c.member]))
		})
	}
}

func money(minor int64, currency payment.Currency) func(*gateway.Charge) {
	return func(c *gateway.Charge) { c.Money = payment.Money{Minor: minor, Currency: currency} }
}

// All requests fit Square's own description.
func TestRequestsFitSquaresDescription(t *testing.T) {
	t.Parallel()
	providertest.NeedDescribed(t, document)
	h := providertest.Described(t, document, "", newFake())
	c, _ := serve(t, h)
	for i, token := range []string{cardOK, cardDeclined, cardPoor, cardUsed, cardNone, bankSlow} {
		ch := charge(token)
		ch.IdempotencyKey = "0123456789abcdef0123456789abcdef-capture-" + string(rune('a'+i))
		charged(t, c, ch)
	}
	for i, whole := range []bool{true, false} {
		ch := manual()
		ch.IdempotencyKey = "held-" + string(rune('a'+i))
		o := charged(t, c, ch)
		_, err := c.Capture(t.Context(), gateway.Capture{
			ProviderPaymentID: o.ProviderPaymentID, Money: euro(1999 - int64(i)), Whole: whole, IdempotencyKey: ch.IdempotencyKey + "c", Permit: permit(),
		})
		require.NoError(t, err)
		_, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: o.ProviderPaymentID, IdempotencyKey: ch.IdempotencyKey + "x", Permit: permit()})
		require.NoError(t, err)
		r, err := c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: o.ProviderPaymentID, Money: euro(5), IdempotencyKey: ch.IdempotencyKey + "r", Permit: permit()})
		require.NoError(t, err)
		_, err = c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: r.ProviderRefundID})
		require.NoError(t, err)
	}
}

// The sources CASH and EXTERNAL create a completed payment without money.
func TestASourceWithoutMoneyIsNotSent(t *testing.T) {
	t.Parallel()
	c, seen := serve(t, newFake())
	for _, token := range []string{"CASH", "EXTERNAL"} {
		_, err := c.Charge(t.Context(), charge(token))
		require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	}
	require.Empty(t, seen)
}

func TestADeclineIsFinalAndSaysWhyWhenAskedLaterToo(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake())
	o := charged(t, c, charge(cardPoor))
	require.Equal(t, fsm.EventFailed, o.Event)
	require.False(t, o.Refused)
	require.Equal(t, payment.NewFailure("insufficient_funds", "INSUFFICIENT_FUNDS"), o.Failure)
	now, err := c.Lookup(t.Context(), o.ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, o, now)
}

func TestADeclineHasEitherStatus(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 402} {
		o := charged(t, says(t, status, `{"errors":[{"category":"PAYMENT_METHOD_ERROR","code":"GENERIC_DECLINE"}]}`), charge(cardOK))
		require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Failure: payment.NewFailure("card_declined", "GENERIC_DECLINE")}, o)
	}
}

// A used token is no decline of the card. An earlier call of ours may have used it, and may have succeeded.
func TestASpentTokenIsNoDecline(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"CARD_TOKEN_USED", "CARD_TOKEN_EXPIRED", "SOURCE_USED", "SOURCE_EXPIRED"} {
		for _, category := range []string{"INVALID_REQUEST_ERROR", "PAYMENT_METHOD_ERROR"} {
			o := charged(t, says(t, 400, `{"errors":[{"category":"`+category+`","code":"`+code+`"}]}`), charge(cardOK))
			require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", code)}, o)
		}
	}
}

func TestARefusedChargeSaysWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status         int
		category, code string
	}{
		"invalid":          {400, "INVALID_REQUEST_ERROR", "CURRENCY_MISMATCH"},
		"bad token":        {401, "AUTHENTICATION_ERROR", "ACCESS_TOKEN_EXPIRED"},
		"weak token":       {403, "AUTHENTICATION_ERROR", "INSUFFICIENT_SCOPES"},
		"no such source":   {404, "INVALID_REQUEST_ERROR", "NOT_FOUND"},
		"unprocessable":    {422, "INVALID_REQUEST_ERROR", "UNPROCESSABLE_ENTITY"},
		"no cards for you": {400, "MERCHANT_SUBSCRIPTION_ERROR", "CARD_PROCESSING_NOT_ENABLED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := charged(t, says(t, c.status, `{"errors":[{"category":"`+c.category+`","code":"`+c.code+`"}]}`), charge(cardOK))
			require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", c.code)}, o)
		})
	}
}

// Such an answer concerns another call with the key, or is transient.
func TestErrorsThatLeaveTheOutcomeOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*square.Client{
		"key of another call": says(t, 400, `{"errors":[{"category":"INVALID_REQUEST_ERROR","code":"IDEMPOTENCY_KEY_REUSED","detail":"Jane"}]}`),
		"conflict":            says(t, 409, `{"errors":[{"category":"INVALID_REQUEST_ERROR","code":"CONFLICT"}]}`),
		"rate limit":          says(t, 429, `{"errors":[{"category":"RATE_LIMIT_ERROR","code":"RATE_LIMITED"}]}`),
		"conflict's status":   says(t, 409, `{"errors":[{"category":"INVALID_REQUEST_ERROR","code":"BAD_REQUEST"}]}`),
		"their own":           says(t, 400, `{"errors":[{"category":"API_ERROR","code":"INTERNAL_SERVER_ERROR"}]}`),
		"their own, unnamed":  says(t, 400, `{"errors":[{"category":"API_ERROR","code":"NOT_IMPLEMENTED"}]}`),
		"a vendor's":          says(t, 400, `{"errors":[{"category":"EXTERNAL_VENDOR_ERROR","code":"PLAID_ERROR"}]}`),
		"temporary":           says(t, 400, `{"errors":[{"category":"PAYMENT_METHOD_ERROR","code":"TEMPORARY_ERROR"}]}`),
		"no errors":           says(t, 400, `{"errors":[]}`),
		"errors of a success": says(t, 200, `{"payment":{"id":"p1","status":"COMPLETED"},"refund":{"id":"r1"},"errors":[{"category":"INVALID_REQUEST_ERROR","code":"BAD_REQUEST"}]}`),
		"made, but not what":  says(t, 200, `{"payment":{"status":"COMPLETED"}}`),
		"accepted":            says(t, 202, `{"payment":{"id":"p1","status":"COMPLETED"}}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := c.Charge(t.Context(), charge(cardOK))
			unknown(t, err)
			_, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: "p1", Permit: permit()})
			unknown(t, err)
			_, err = c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: "p1", Permit: permit()})
			unknown(t, err)
			_, err = c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "p1", Permit: permit()})
			unknown(t, err)
			_, err = c.Lookup(t.Context(), "p1")
			unknown(t, err)
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestWithoutABaseAddressSquareIsCalled(t *testing.T) {
	t.Parallel()
	var called string
	c := square.New("", secret, &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		called = r.URL.String()
		return nil, http.ErrHandlerTimeout
	})})
	_, err := c.Lookup(t.Context(), "p1")
	unknown(t, err)
	require.Equal(t, "https://connect.squareup.com/v2/payments/p1", called)
}
