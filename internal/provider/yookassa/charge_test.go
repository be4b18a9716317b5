package yookassa_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/yookassa"
)

func TestAChargeIsOnePayment(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	ch := charge("+u7PDjMTkf08NtD66P6+eYWa2yjU3gsSIhOOO+OWsOg=")
	o := charged(t, c, ch)
	require.Equal(t, fsm.EventSucceeded, o.Event)
	require.Equal(t, rub(1999), *o.Money)

	sent := <-got
	require.Equal(t, "POST /v3/payments", sent.line)
	require.Equal(t, ch.IdempotencyKey, sent.header.Get("Idempotence-Key"))
	require.Equal(t, "application/json", sent.header.Get("Content-Type"))
	require.Equal(t, "Basic MTAwNTAwOnRlc3RfZmFrZQ==", sent.header.Get("Authorization"))
	require.JSONEq(t, `{
		"amount": {"value": "19.99", "currency": "RUB"}, "capture": true, "payment_token": "`+ch.Token+`",
		"confirmation": {"type": "redirect", "return_url": "https://shop.example/back"},
		"metadata": {"payment_attempt_id": "`+ch.Attempt.String()+`", "order_id": "A-1"}
	}`, sent.body)
}

func TestWhatDiffersByTheCharge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		token  string
		change func(*gateway.Charge)
		want   string
		news   fsm.Event
	}{
		"manual":                  {"one-time", func(c *gateway.Charge) { c.Capture = payment.CaptureManual }, `{"capture":false}`, fsm.EventAuthorized},
		"nowhere to return to":    {"one-time", func(c *gateway.Charge) { c.ReturnURL = "" }, `{"confirmation":null}`, fsm.EventSucceeded},
		"saved method":            {savedMethod, nil, `{"payment_method_id":"` + savedMethod + `","payment_token":null,"confirmation":null}`, fsm.EventSucceeded},
		"a method, on their page": {"sbp", nil, `{"payment_method_data":{"type":"sbp"},"payment_token":null}`, fsm.EventActionRequired},
		"any, on their page":      {"redirect", nil, `{"payment_method_data":null,"payment_token":null,"payment_method_id":null}`, fsm.EventActionRequired},
		"another currency":        {"one-time", func(c *gateway.Charge) { c.Money = payment.Money{Minor: 5, Currency: "KZT"} }, `{"amount":{"value":"0.05","currency":"KZT"}}`, fsm.EventSucceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, got := serve(t, newFake(t))
			ch := charge(c.token)
			if c.change != nil {
				c.change(&ch)
			}
			require.Equal(t, c.news, charged(t, client, ch).Event)
			var sent, want map[string]any
			require.NoError(t, json.Unmarshal([]byte((<-got).body), &sent))
			require.NoError(t, json.Unmarshal([]byte(c.want), &want))
			for member := range want {
				require.Equal(t, want[member], sent[member], member)
			}
		})
	}
}

// The methods that a customer completes on YooKassa's page are named by their codes.
func TestACodeOfAMethodIsNoToken(t *testing.T) {
	t.Parallel()
	for _, method := range []string{
		"bank_card", "cash", "sberbank", "tinkoff_bank", "yoo_money", "sbp", "sber_loan", "sber_bnpl", "alfa_pay",
	} {
		c, got := serve(t, newFake(t))
		charged(t, c, charge(method))
		sent := (<-got).body
		require.Contains(t, sent, `"payment_method_data":{"type":"`+method+`"}`)
		require.NotContains(t, sent, "payment_token")
	}
}

// Without a return address, the customer can't be sent to the page.
func TestAPageWithoutAReturnAddressIsRefused(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	ch := charge("redirect")
	ch.ReturnURL = ""
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "invalid_request"),
	}, charged(t, c, ch))
}

func TestAnAmountOfNoCurrencyIsNotSent(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	odd := payment.Money{Minor: 1, Currency: "XYZ"}
	ch := charge("one-time")
	ch.Money = odd
	_, err := c.Charge(t.Context(), ch)
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	_, err = c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: "1", Money: odd, Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	_, err = c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "1", Money: odd, Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	require.Empty(t, got)
}

// A decline is final at YooKassa. Another try is a new payment.
func TestADeclineIsFinalAndSaysWhy(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	o := charged(t, c, charge("poor"))
	require.Equal(t, fsm.EventFailed, o.Event)
	require.False(t, o.Refused)
	require.NotEmpty(t, o.ProviderPaymentID)
	require.Equal(t, payment.NewFailure("insufficient_funds", "insufficient_funds"), o.Failure)
}

func TestARefusalIsDefinitive(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		code   string
	}{
		"invalid": {400, "invalid_request"}, "bad key": {401, "invalid_credentials"}, "not allowed": {403, "forbidden"}, "no such": {404, "not_found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := charged(t, says(t, c.status, `{"type":"error","id":"x","code":"`+c.code+`","description":"No.","parameter":"payment_token"}`), charge("x"))
			require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", c.code)}, o)
		})
	}
}

// Such an answer concerns another call, or is transient.
func TestErrorsThatLeaveTheOutcomeOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"key of another call": {400, `{"type":"error","code":"invalid_request","description":"Idempotence key duplicated","parameter":"Idempotence-Key"}`},
		"rate limit":          {429, `{"type":"error","code":"too_many_requests"}`},
		"their trouble":       {500, `{"type":"error","code":"internal_server_error"}`},
		"still at it":         {202, `{"type":"processing","description":"Request accepted, but not processed yet.","retry_after":1800}`},
		"created":             {201, `{"id":"1","status":"succeeded","amount":{"value":"19.99","currency":"RUB"}}`},
		"wrong method":        {405, ``},
		"wrong content":       {415, ``},
		"not their own form":  {400, `{"code":"invalid_request"}`},
		"an amount of none":   {200, `{"id":"1","status":"succeeded","amount":{"value":"19.999","currency":"RUB"}}`},
		"no amount":           {200, `{"id":"1","status":"waiting_for_capture"}`},
		"no status":           {200, `{"id":"1","amount":{"value":"19.99","currency":"RUB"}}`},
		"no id":               {200, `{"status":"succeeded","amount":{"value":"19.99","currency":"RUB"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := says(t, c.status, c.body)
			_, err := client.Charge(t.Context(), charge("x"))
			require.Error(t, err)
			require.NotErrorIs(t, err, gateway.ErrNotSent)
			_, err = client.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "1", Money: rub(1), Permit: permit()})
			require.Error(t, err)
			require.NotErrorIs(t, err, gateway.ErrNotSent)
		})
	}
}

// A rejected key is no evidence about an earlier call, which may have succeeded.
func TestAKeyThatIsTurnedAwayRefusesOneCall(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		c := says(t, status, `{"type":"error","id":"e-1","code":"invalid_credentials","description":"Jane Doe"}`)
		r, err := c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "1", Money: rub(1), Permit: permit()})
		require.NoError(t, err)
		require.Equal(t, gateway.RefusedRefund("invalid_credentials"), r)
		_, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: "1", Permit: permit()})
		require.ErrorContains(t, err, "e-1", "support asks for the error's id")
		require.NotContains(t, err.Error(), "Jane")
		_, err = c.Lookup(t.Context(), "1")
		require.Error(t, err)
		require.NotErrorIs(t, err, gateway.ErrNotSent)
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
	}
}

// A payment that the customer has not confirmed can't be cancelled, and the refused cancel does not fail it.
func TestCancellingAnUnconfirmedPaymentIsRefused(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	waits := charged(t, c, charge("redirect"))
	o, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: waits.ProviderPaymentID, IdempotencyKey: uuid.NewString(), Permit: permit()})
	require.NoError(t, err)
	waits.Refused = true
	require.Equal(t, waits, o)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestWithoutABaseAddressYooKassaIsCalled(t *testing.T) {
	t.Parallel()
	var called string
	c := yookassa.New("", shop, secret, &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		called = r.URL.String()
		return nil, errors.New("no network")
	})})
	_, err := c.Lookup(t.Context(), "1")
	require.ErrorContains(t, err, "no network")
	require.Equal(t, "https://api.yookassa.ru/v3/payments/1", called)
}
