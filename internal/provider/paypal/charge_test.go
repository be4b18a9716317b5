package paypal_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestAChargeIsOneOrder(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	ch := charge("card:8kk8451t")
	o := charged(t, c, ch)
	require.Equal(t, fsm.EventSucceeded, o.Event)
	require.Len(t, o.References, 2, "the capture, which webhooks name, and the attempt")

	sent := <-got
	require.Equal(t, "POST /v2/checkout/orders", sent.line)
	require.Equal(t, ch.IdempotencyKey, sent.header.Get("PayPal-Request-Id"))
	require.Equal(t, "Bearer A21AA-1", sent.header.Get("Authorization"))
	require.Equal(t, "return=representation", sent.header.Get("Prefer"))
	require.JSONEq(t, `{"intent":"CAPTURE",
		"purchase_units":[{"custom_id":"`+ch.Attempt.String()+`","amount":{"currency_code":"EUR","value":"19.99"}}],
		"payment_source":{"card":{"vault_id":"8kk8451t",
			"stored_credential":{"payment_initiator":"CUSTOMER","payment_type":"ONE_TIME","usage":"SUBSEQUENT"},
			"experience_context":{"return_url":"https://shop.example/back","cancel_url":"https://shop.example/back"}}}}`, sent.body)
}

func TestWhatDiffersByTheCharge(t *testing.T) {
	t.Parallel()
	const back = `"return_url":"https://shop.example/back","cancel_url":"https://shop.example/back"`
	for name, c := range map[string]struct {
		token  string
		change func(*gateway.Charge)
		want   string
	}{
		"wallet":               {"paypal", func(*gateway.Charge) {}, `"payment_source":{"paypal":{"experience_context":{` + back + `,"user_action":"PAY_NOW"}}}`},
		"wallet in the vault":  {"paypal:v-1", func(*gateway.Charge) {}, `{"paypal":{"vault_id":"v-1","experience_context":{` + back + `,"user_action":"PAY_NOW"}}}`},
		"nowhere to return to": {"paypal", func(c *gateway.Charge) { c.ReturnURL = "" }, `"payment_source":{"paypal":{}}`},
		"manual":               {"paypal", func(c *gateway.Charge) { c.Capture = payment.CaptureManual }, `"intent":"AUTHORIZE"`},
		"yen":                  {"paypal", func(c *gateway.Charge) { c.Money = payment.Money{Minor: 1999, Currency: "JPY"} }, `{"currency_code":"JPY","value":"1999"}`},
		"three digits":         {"paypal", func(c *gateway.Charge) { c.Money = payment.Money{Minor: 1999, Currency: "TND"} }, `{"currency_code":"TND","value":"1.999"}`},
		"forints are whole":    {"paypal", func(c *gateway.Charge) { c.Money = payment.Money{Minor: 199900, Currency: "HUF"} }, `{"currency_code":"HUF","value":"1999"}`},
		"so are Taiwan's":      {"paypal", func(c *gateway.Charge) { c.Money = payment.Money{Minor: 199900, Currency: "TWD"} }, `{"currency_code":"TWD","value":"1999"}`},
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
}

func TestWhatPayPalCannotTakeIsNotSent(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	for _, token := range []string{"", "apple_pay:1", "card:", "paypal:", "tok_visa", "venmo:1"} {
		_, err := c.Charge(t.Context(), charge(token))
		require.ErrorIs(t, err, gateway.ErrUnsupportedRequest, token)
	}
	odd := payment.Money{Minor: 199950, Currency: "HUF"}
	ch := charge("paypal")
	ch.Money = odd
	_, err := c.Charge(t.Context(), ch)
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	_, err = c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: "X", Money: odd, Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	_, err = c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "X", Money: odd, Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	require.Empty(t, got)
}

// A card processor's decline is a declined capture in a completed order.
func TestADeclineByTheProcessorSaysWhy(t *testing.T) {
	t.Parallel()
	for vault, want := range map[string]*payment.Failure{
		"poor":   payment.NewFailure("insufficient_funds", "5120"),
		"stolen": payment.NewFailure("fraud_suspected", "9520"),
		"unsaid": payment.NewFailure("provider_rejected", ""),
	} {
		c, _ := serve(t, newFake(t))
		for _, ch := range []gateway.Charge{charge("card:" + vault), manual(charge("card:" + vault))} {
			o := charged(t, c, ch)
			require.Equal(t, fsm.EventFailed, o.Event, vault)
			require.False(t, o.Refused)
			require.Equal(t, want, o.Failure)
			now, err := c.Lookup(t.Context(), o.ProviderPaymentID)
			require.NoError(t, err)
			require.Equal(t, o, now)
		}
	}
}

func TestACaptureUnderReviewIsUnderWay(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	for _, ch := range []gateway.Charge{charge("paypal:review"), manual(charge("paypal:review"))} {
		o := charged(t, c, ch)
		require.Equal(t, fsm.EventProcessing, o.Event)
		require.Nil(t, o.Money)
	}
}

func TestARefusalIsNoDecline(t *testing.T) {
	t.Parallel()
	for issue, c := range map[string]struct {
		status  int
		refused bool
		code    webhooks.FailureCode
	}{
		"INSTRUMENT_DECLINED":       {422, false, "card_declined"},
		"PAYER_CANNOT_PAY":          {422, false, "card_declined"},
		"PAYEE_BLOCKED_TRANSACTION": {422, false, "fraud_suspected"},
		"DECIMAL_PRECISION":         {422, true, "provider_rejected"},
		"PERMISSION_DENIED":         {403, true, "provider_rejected"},
		"INVALID_STRING_LENGTH":     {400, true, "provider_rejected"},
	} {
		client := says(t, c.status, `{"name":"X","message":"m","details":[{"issue":"`+issue+`"}]}`)
		want := gateway.Outcome{Event: fsm.EventFailed, Refused: c.refused, Failure: payment.NewFailure(c.code, issue)}
		require.Equal(t, want, charged(t, client, charge("paypal")), issue)
	}
	o := charged(t, says(t, http.StatusBadRequest, `{"name":"INVALID_REQUEST"}`), charge("paypal"))
	require.Equal(t, payment.NewFailure("provider_rejected", "INVALID_REQUEST"), o.Failure)
}

// Such an answer concerns another call, or is transient.
func TestErrorsThatLeaveTheOutcomeOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"another is at it":     {409, `{"name":"RESOURCE_CONFLICT","details":[{"issue":"PREVIOUS_REQUEST_IN_PROGRESS"}]}`},
		"order being finished": {422, `{"name":"UNPROCESSABLE_ENTITY","details":[{"issue":"ORDER_COMPLETION_IN_PROGRESS"}]}`},
		"the first is at it":   {422, `{"name":"UNPROCESSABLE_ENTITY","details":[{"issue":"PREVIOUS_REQUEST_IN_PROGRESS"}]}`},
		"key of another call":  {422, `{"name":"DUPLICATE_REQUEST_ID"}`},
		"rate limit":           {429, `{"name":"RATE_LIMIT_REACHED"}`},
		"server":               {500, `{"name":"INTERNAL_SERVER_ERROR"}`},
		"unavailable":          {503, `{"name":"SERVICE_UNAVAILABLE"}`},
		"accepted":             {202, `{"id":"1","status":"COMPLETED"}`},
		"not PayPal's form":    {422, `{"error":"x"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := refuses(t, c.status, c.body)
			_, err := client.Charge(t.Context(), charge("paypal"))
			require.Error(t, err)
			require.NotErrorIs(t, err, gateway.ErrNotSent)
			_, err = client.Complete(t.Context(), completion(charge("paypal"), "5O190127TN364715T"))
			require.Error(t, err)
			require.NotErrorIs(t, err, gateway.ErrNotSent)
		})
	}
}

// PayPal's description quotes the request, and our errors go into logs.
func TestErrorsKeepPayPalsWords(t *testing.T) {
	t.Parallel()
	c := says(t, http.StatusConflict, `{"name":"RESOURCE_CONFLICT","message":"Jane Doe","debug_id":"d1","details":[{"issue":"I","value":"jane@example.com"}]}`)
	_, err := c.Charge(t.Context(), charge("paypal"))
	require.EqualError(t, err, "paypal responded with 409 I, debug id d1")
}
