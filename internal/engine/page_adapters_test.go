package engine_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/paddle"
	"github.com/paylatch/paylatch/internal/provider/razorpay"
	"github.com/paylatch/paylatch/internal/provider/tbank"
	"github.com/paylatch/paylatch/webhooks"
	paddlehooks "github.com/paylatch/paylatch/webhooks/paddle"
	razorpayhooks "github.com/paylatch/paylatch/webhooks/razorpay"
	tbankhooks "github.com/paylatch/paylatch/webhooks/tbank"
)

// The pages of real providers: their own webhooks, signed, and their own lookups.

// keepsPage requires that a reported declined try leaves the attempt to its customer, even after a lookup, and that the
// next try is paid.
func (r *env) keepsPage(t *testing.T, id payment.AttemptID, pays func()) {
	t.Helper()
	require.Equal(t, triedOnce, standingOf(r.attempt(t, id).Attempt))
	r.rests(t, r.attempt(t, id).CreatedAt)
	require.Equal(t, triedOnce, standingOf(r.recheck(t, id).Attempt), "a lookup leaves it, too")
	pays()
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
	require.Empty(t, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

func pageOfCloudPayments(t *testing.T) {
	t.Parallel()
	p := newTabs(t)
	id := p.page(t, "A-1", payment.CaptureAutomatic)
	require.Equal(t, fsm.Applied, p.reports(t, id, "fail", 1, "Declined"))
	p.keepsPage(t, id, func() { require.Equal(t, fsm.Applied, p.reports(t, id, "pay", 2, "Completed")) })

	// No webhook came: the lookup shows the decline.
	lost := p.page(t, "A-2", payment.CaptureAutomatic)
	p.stands(lost, 3, "Declined")
	require.Equal(t, triedOnce, standingOf(p.recheck(t, lost).Attempt))
}

// The script on the shop's page makes transactions that are found by the attempt's id.
func pageWithTheScriptOfCloudPayments(t *testing.T) {
	t.Parallel()
	p := newTabs(t)
	id := p.register(t, commands.External{}).ID
	p.stands(id, 1, "Declined")
	require.Equal(t, triedOnce, standingOf(p.recheck(t, id).Attempt))
	require.Equal(t, fsm.Repeat, p.reports(t, id, "fail", 1, "Declined"))
	p.keepsPage(t, id, func() { require.Equal(t, fsm.Applied, p.reports(t, id, "pay", 2, "Completed")) })
	require.Equal(t, "2", p.attempt(t, id).ProviderPaymentID)
	require.Equal(t, fsm.RefundSucceeded, p.refund(t, id, "refund-key").State)
	require.Equal(t, []string{"refund 2"}, p.done())
}

func pageOfTBank(t *testing.T) {
	t.Parallel()
	const password = "secret"
	v, err := tbankhooks.New(webhooks.Config{Secrets: []string{password}, Params: map[string]string{"currency": "EUR"}})
	require.NoError(t, err)
	var status atomic.Value
	status.Store("NEW")
	body := func() string {
		code := "0"
		if status.Load() == "AUTH_FAIL" {
			code = "1051"
		}
		return fmt.Sprintf(`{"TerminalKey":"t","Success":%t,"ErrorCode":%q,"Status":%q,"PaymentId":"7","Amount":%d,"PaymentURL":"https://pay.example/7"}`,
			code == "0", code, status.Load(), price)
	}
	s := answers(t, map[string]func() string{"POST /v2/Init": body, "POST /v2/GetState": body})
	client, err := tbank.New(s.URL, "t", password, "EUR", s.Client())
	require.NoError(t, err)
	r := newEnv(t, setup{silent: true, provider: func(gateway.Provider) gateway.Provider { return client }})
	reports := func(now string) {
		status.Store(now)
		d := webhooks.Delivery{Body: []byte(body())}
		require.NoError(t, v.Sign(&d))
		require.Equal(t, []fsm.Verdict{fsm.Applied}, r.notify(t, v, d))
	}
	id := r.tried(t, "redirect", payment.CaptureAutomatic)
	reports("AUTH_FAIL")
	r.keepsPage(t, id, func() { reports("CONFIRMED") })
}

func pageOfRazorpay(t *testing.T) {
	t.Parallel()
	v, err := razorpayhooks.New(webhooks.Config{Secrets: []string{"secret"}})
	require.NoError(t, err)
	link := func() string {
		return fmt.Sprintf(`{"id":"plink_1","status":"created","currency":"EUR","amount":%d,"order_id":"order_1","short_url":"https://rzp.io/i/1"}`, price)
	}
	made := func(id, status string) string {
		return fmt.Sprintf(`{"id":%q,"entity":"payment","status":%q,"order_id":"order_1","amount":%d,"currency":"EUR","created_at":1773500960,`+
			`"error_code":"BAD_REQUEST_ERROR","error_reason":"insufficient_funds"`, id, status, price)
	}
	s := answers(t, map[string]func() string{
		"POST /v1/payment_links/": link, "GET /v1/payment_links/plink_1": link,
		"GET /v1/payments/pay_1":          func() string { return made("pay_1", "failed") + "}" },
		"GET /v1/orders/order_1/payments": func() string { return `{"entity":"collection","count":1,"items":[` + made("pay_1", "failed") + `}]}` },
	})
	r := newEnv(t, setup{silent: true, provider: func(gateway.Provider) gateway.Provider {
		return razorpay.New(s.URL, "key", "secret", s.Client())
	}})
	id := r.tried(t, "redirect", payment.CaptureAutomatic)
	reports := func(event, payment string) {
		d := webhooks.Delivery{Method: http.MethodPost, Body: fmt.Appendf(nil, `{"event":%q,"contains":["payment"],"created_at":1773500960,`+
			`"payload":{"payment":{"entity":%s,"notes":{"payment_attempt_id":%q}}}}}`, event, payment, id)}
		require.NoError(t, v.Sign(&d))
		require.Equal(t, []fsm.Verdict{fsm.Applied}, r.notify(t, v, d))
	}
	reports("payment.failed", made("pay_1", "failed"))
	r.keepsPage(t, id, func() { reports("payment.captured", made("pay_2", "captured")) })
	require.Equal(t, "pay_2", r.attempt(t, id).ProviderPaymentID)
}

// A transaction of Paddle's stays ready after a declined try.
func pageOfPaddle(t *testing.T) {
	t.Parallel()
	v, err := paddlehooks.New(webhooks.Config{Secrets: []string{"secret"}})
	require.NoError(t, err)
	var status atomic.Value
	status.Store("draft")
	var attempt string
	members := func() string {
		return fmt.Sprintf(`{"id":"txn_1","status":%q,"origin":"api","currency_code":"EUR","custom_data":{"payment_attempt_id":%q},"checkout":{"url":"https://shop.example/checkout"},`+
			`"details":{"totals":{"grand_total":"%d"}},"payments":[{"status":"error","error_code":"not_enough_balance"}]}`, status.Load(), attempt, price)
	}
	transaction := func() string { return `{"data":` + members() + `}` }
	s := answers(t, map[string]func() string{
		"POST /transactions": transaction, "GET /transactions/txn_1": transaction,
		"PATCH /transactions/txn_1": func() string { status.Store("canceled"); return transaction() },
		"GET /adjustments":          func() string { return `{"data":[],"meta":{"pagination":{"has_more":false}}}` },
	})
	r := newEnv(t, setup{silent: true, provider: func(gateway.Provider) gateway.Provider { return paddle.New(s.URL, "key", s.Client()) }})
	id := r.tried(t, "redirect", payment.CaptureAutomatic)
	attempt = id.String()
	reports := func(event, now string) {
		status.Store(now)
		d := webhooks.Delivery{Header: http.Header{}, ReceivedAt: time.Now(), Body: fmt.Appendf(nil, `{"event_id":"evt_%s","event_type":%q,"occurred_at":%q,"data":%s}`,
			event, event, time.Now().UTC().Format(time.RFC3339Nano), members())}
		require.NoError(t, v.Sign(&d))
		require.Equal(t, []fsm.Verdict{fsm.Applied}, r.notify(t, v, d))
	}
	reports("transaction.payment_failed", "ready")
	r.keepsPage(t, id, func() { reports("transaction.paid", "paid") })
}
