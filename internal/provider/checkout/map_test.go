package checkout_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/checkout"
)

func TestHowAPaymentStands(t *testing.T) {
	t.Parallel()
	whole, part := euro(1999), euro(500)
	for members, want := range map[string]gateway.Outcome{
		`"status":"Pending"`:                          {Event: fsm.EventProcessing},
		`"status":"Pending","source":{"type":"card"}`: {Event: fsm.EventActionRequired},
		`"status":"Pending","3ds":{"enrolled":"Y"}`:   {Event: fsm.EventActionRequired},
		`"status":"Pending","3ds":null`:               {Event: fsm.EventProcessing},
		`"status":"Pending","source":{"type":"card"},"3ds":{"downgraded":true,"enrolled":"N"}`:                {Event: fsm.EventProcessing},
		`"status":"Pending","source":{"type":"sepa"}`:                                                         {Event: fsm.EventProcessing},
		`"status":"Authorized","source":{"type":"card"},"3ds":{"enrolled":"Y","authentication_response":"Y"}`: {Event: fsm.EventAuthorized, Money: &whole},
		`"status":"Pending","_links":{"redirect":{"href":"https://b/x"}}`:                                     {Event: fsm.EventActionRequired, NextAction: payment.Redirect("https://b/x")},
		`"status":"Authorized"`: {Event: fsm.EventAuthorized, Money: &whole},
		`"status":"Authorized","balances":{"total_authorized":500}`: {Event: fsm.EventAuthorized, Money: &part},
		`"status":"Captured"`: {Event: fsm.EventSucceeded, Money: &whole},
		`"status":"Captured","balances":{"total_captured":500}`:            {Event: fsm.EventSucceeded, Money: &part},
		`"status":"Partially Captured","balances":{"total_captured":500}`:  {Event: fsm.EventSucceeded, Money: &part},
		`"status":"Partially Captured"`:                                    {Event: fsm.EventSucceeded},
		`"status":"Refunded","balances":{"total_captured":500}`:            {Event: fsm.EventSucceeded, Money: &part},
		`"status":"Partially Refunded","balances":{"total_captured":1999}`: {Event: fsm.EventSucceeded, Money: &whole},
		`"status":"Paid"`: {Event: fsm.EventSucceeded},
		`"status":"Voided","balances":{"total_authorized":1999,"total_voided":1}`: {Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "")},
		`"status":"Canceled"`:                         {Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "")},
		`"status":"Expired"`:                          {Event: fsm.EventFailed, Failure: payment.NewFailure("expired", "")},
		`"status":"Declined","response_code":"20151"`: {Event: fsm.EventFailed, Failure: payment.NewFailure("authentication_failed", "20151")},
		`"status":"Card Verified"`:                    {Event: fsm.EventProcessing},
		`"status":"Marinating"`:                       {Event: fsm.EventProcessing},
	} {
		got, err := says(t, 200, `{"id":"pay_1","amount":1999,"currency":"EUR",`+members+`}`).Lookup(t.Context(), "pay_1")
		require.NoError(t, err, members)
		want.ProviderPaymentID = "pay_1"
		require.Equal(t, want, got, members)
	}
}

func TestHowARefundStands(t *testing.T) {
	t.Parallel()
	back := euro(500)
	for members, want := range map[string]gateway.RefundOutcome{
		`"approved":true,"response_code":"10000"`:  {Event: fsm.EventSucceeded},
		`"approved":false,"response_code":"20005"`: {Event: fsm.EventFailed, Failure: payment.NewFailure("provider_rejected", "20005")},
		`"response_code":""`:                       {Event: fsm.EventProcessing},
	} {
		c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/actions") {
				_, _ = io.WriteString(w, `[{"id":"act_0","type":"Capture","amount":1999,"approved":true},{"id":"act_1","type":"Refund","amount":500,`+members+`}]`)
				return
			}
			_, _ = io.WriteString(w, `{"id":"pay_1","status":"Captured","amount":1999,"currency":"EUR"}`)
		}))
		got, err := c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "act_1", ProviderPaymentID: "pay_1"})
		require.NoError(t, err, members)
		want.ProviderRefundID, want.Money = "act_1", &back
		require.Equal(t, want, got, members)
		_, err = c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "act_0", ProviderPaymentID: "pay_1"})
		require.ErrorIs(t, err, gateway.ErrNoSuchPayment, "a capture is no refund")
	}
}

func TestActionsThatAreNoListAreNoAnswer(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"{}", "null", `"x"`, ""} {
		c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/actions") {
				_, _ = io.WriteString(w, body)
				return
			}
			_, _ = io.WriteString(w, `{"id":"pay_1","status":"Captured","amount":1999,"currency":"EUR"}`)
		}))
		_, err := c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "act_1", ProviderPaymentID: "pay_1"})
		unknown(t, err)
	}
}

// told returns the webhook's event about a payment.
func told(t *testing.T, kind string, data object) webhooks.Event {
	t.Helper()
	v, err := hooks.New(webhooks.Config{Secrets: []string{"signature-key"}})
	require.NoError(t, err)
	of := object{"id": "pay_1", "reference": "ours"}
	maps.Copy(of, data)
	body, err := json.Marshal(object{"id": "evt_1", "type": kind, "data": of})
	require.NoError(t, err)
	d := webhooks.Delivery{Method: "POST", Body: body}
	require.NoError(t, v.Sign(&d))
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
	return events[0]
}

func asked(t *testing.T, status string, members object) gateway.Outcome {
	t.Helper()
	said := object{"id": "pay_1", "status": status, "amount": 1999, "currency": "EUR"}
	maps.Copy(said, members)
	raw, err := json.Marshal(said)
	require.NoError(t, err)
	o, err := says(t, 200, string(raw)).Lookup(t.Context(), "pay_1")
	require.NoError(t, err)
	return o
}

// The status of a payment and the event that announces it must agree.
func TestStatusesAgreeWithWebhooks(t *testing.T) {
	t.Parallel()
	for kind, status := range map[string]string{
		"payment_pending": "Pending", "payment_approved": "Authorized", "payment_captured": "Captured", "payment_declined": "Declined",
		"payment_canceled": "Canceled", "payment_voided": "Voided", "payment_expired": "Expired",
	} {
		e, o := told(t, kind, object{"amount": 1999, "currency": "EUR"}), asked(t, status, nil)
		require.Equal(t, string(e.Kind), string(o.Event), status)
		require.Equal(t, e.ProviderPaymentID, o.ProviderPaymentID)
		if o.Failure != nil {
			require.Equal(t, string(e.FailureCode), o.Failure.Code, status)
		}
	}
	for _, code := range []string{
		"20005", "20051", "20059", "20151", "20152", "20154", "20155", "20012", "30033", "30034", "30041", "30043", "40101", "50001", "10000",
	} {
		e := told(t, "payment_declined", object{"response_code": code})
		require.Equal(t, payment.NewFailure(e.FailureCode, e.ProviderCode), asked(t, "Declined", object{"response_code": code}).Failure, code)
	}
}

func TestDigitsAgreeWithWebhooks(t *testing.T) {
	t.Parallel()
	for _, currency := range []string{"EUR", "JPY", "KWD", "CLP", "CVE", "IDR", "ISK", "KRW", "UGX", "TND", "VND"} {
		e := told(t, "payment_captured", object{"amount": 190000, "currency": currency})
		o := asked(t, "Captured", object{"amount": 190000, "currency": currency})
		require.Equal(t, payment.Money{Minor: e.Money.Minor, Currency: payment.Currency(e.Money.Currency)}, *o.Money, currency)
	}
}

// A refund's webhook names it as the adapter does.
func TestARefundIsNamedAlike(t *testing.T) {
	t.Parallel()
	c, seen := serve(t, newFake())
	o := charged(t, c, charge(cardOK))
	_, err := c.Lookup(t.Context(), o.ProviderPaymentID)
	require.NoError(t, err)
	for range 3 { // the charge, the payment and its disputes
		<-seen
	}
	r, err := c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: o.ProviderPaymentID, Money: euro(5), IdempotencyKey: "r", Permit: permit()})
	require.NoError(t, err)
	var sent object
	require.NoError(t, json.Unmarshal([]byte((<-seen).body), &sent))
	e := told(t, "payment_refunded", object{"action_id": r.ProviderRefundID, "metadata": sent["metadata"], "amount": 5, "currency": "EUR"})
	require.Equal(t, r.ProviderRefundID, e.RefundID)
	require.Equal(t, payment.RefundID{}.String(), e.RefundReference)
	require.Equal(t, string(fsm.EventSucceeded), strings.TrimPrefix(string(e.Kind), "refund_"))
}
