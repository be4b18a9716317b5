package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

const goodPay = `{"payment_method":{"token":"tok_success"}}`

func TestPay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.reply = commands.Reply{View: payment.View{Attempt: pending()}, Result: idempotency.Created}
	got := b.command("/v1/orders/A-1/pay", goodPay, `Idempotency-Key: "key-00000001"`)
	require.Equal(t, http.StatusCreated, got.StatusCode)
	require.Equal(t, "key-00000001", got.Header.Get("Idempotency-Key"))
	require.Equal(t, `"2"`, got.Header.Get("ETag"))
	require.Equal(t, "1", got.Header.Get("Retry-After"))
	want := `{"payment_attempt_id":"01980d3e-7f2a-7cc1-9d2b-3f0e5a6b7c8d","order_id":"A-1","user_id":"u1",` +
		`"client_request_id":"key-00000001","account":"sandbox","payments":[],"provider_payment_id":null,"status":"pending","stage":"awaiting_customer",` +
		`"amount":1999,"currency":"EUR","amount_captured":0,"amount_refunded":0,"amount_disputed":0,"capture":"automatic","origin":"paylatch",` +
		`"next_action":{"type":"redirect","url":"https://pay.example/?a=1&b=<2>"},"saved_payment_method":null,"disputes":[],"failure":null,"can_start_new_attempt":false,` +
		`"next_poll_ms":1000,"status_token":"status.01980d3e-7f2a-7cc1-9d2b-3f0e5a6b7c8d.2026-03-02T09:30:00Z","version":2,` +
		`"created_at":"2026-03-01T09:29:59.120000Z","updated_at":"2026-03-01T09:30:00.120000Z","finalized_at":null,"review":null}` + "\n"
	require.Equal(t, want, string(got.text), "to the byte")
	require.Equal(t, "POST /v1/orders/A-1/pay", b.payments.request.Endpoint)
	require.Equal(t, commands.Pay{OrderID: "A-1", Details: gateway.Details{Token: "tok_success"}, Capture: payment.CaptureAutomatic}, b.payments.pays)
}

func TestPayWithEverything(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	done := succeeded()
	done.Saved = &payment.SavedMethod{Token: "card_1", Type: "card", Display: "Visa •••• 4242"}
	b.payments.reply = commands.Reply{View: payment.View{Attempt: done}, Result: idempotency.Reused}
	got := b.command("/v1/orders/A-1/pay", `{"account":"stripe-eu","payment_method":{"token":"8415698462516992","type":"scheme","stored":true},"capture":"manual","customer":{"reference":"c-7"},
		"return_url":"https://shop.example/ok?a=1#b","amount":1999,"currency":"EUR"}`)
	require.Equal(t, http.StatusCreated, got.StatusCode)
	require.Empty(t, got.Header.Get("Retry-After"))
	o := got.object(t)
	require.Equal(t, "succeeded", o["status"])
	require.Equal(t, "final", o["stage"])
	require.Nil(t, o["next_action"])
	require.Equal(t, map[string]any{"token": "card_1", "type": "card", "display": "Visa •••• 4242", "expires": nil, "removed_at": nil}, o["saved_payment_method"])
	require.InDelta(t, 0, o["next_poll_ms"], 0)
	require.Equal(t, "2026-03-01T09:30:00.120001Z", o["finalized_at"])
	amount, currency := int64(1999), payment.Currency("EUR")
	require.Equal(t, commands.Pay{
		OrderID: "A-1", Account: "stripe-eu", Capture: payment.CaptureManual,
		Details: gateway.Details{
			Token: "8415698462516992", MethodType: "scheme", Stored: true, Customer: gateway.Customer{Reference: "c-7"},
			ReturnURL: "https://shop.example/ok?a=1#b",
		},
		Amount: &amount, Currency: &currency,
	}, b.payments.pays)
}

func TestAPaymentInTheWayIsShownWithoutItsRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.err = &payment.InProgressError{Attempt: pending()}
	got := b.command("/v1/orders/A-1/pay", goodPay)
	p := got.is(t, 409, "payment-in-progress")
	require.Equal(t, attemptID.String(), p.Attempt["payment_attempt_id"])
	require.NotContains(t, p.Attempt, "client_request_id")
	require.NotContains(t, p.Attempt, "status_token")
	require.False(t, p.Retryable)
	require.Empty(t, got.Header.Get("Idempotency-Result"))
}

func TestPollingSlowsDownWithAge(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for age, want := range map[time.Duration]float64{
		-time.Minute: 1000, 0: 1000, 10 * time.Second: 1000, 25 * time.Second: 2500, time.Minute: 5000, 24 * time.Hour: 5000,
	} {
		a := pending()
		a.CreatedAt, a.State = now.Add(-age), fsm.OutcomeUnknown
		b.payments.view = payment.View{Attempt: a}
		require.InDelta(t, want, b.send(http.MethodGet, "/v1/payment-attempts/"+attemptID.String(), "").object(t)["next_poll_ms"], 0)
	}
}
