package engine_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/gocardless"
	"github.com/paylatch/paylatch/internal/provider/mollie"
	"github.com/paylatch/paylatch/internal/provider/tbank"
	"github.com/paylatch/paylatch/internal/provider/yookassa"
	"github.com/paylatch/paylatch/webhooks"
	cloudpaymentshooks "github.com/paylatch/paylatch/webhooks/cloudpayments"
	gocardlesshooks "github.com/paylatch/paylatch/webhooks/gocardless"
	molliehooks "github.com/paylatch/paylatch/webhooks/mollie"
	razorpayhooks "github.com/paylatch/paylatch/webhooks/razorpay"
	tbankhooks "github.com/paylatch/paylatch/webhooks/tbank"
	yookassahooks "github.com/paylatch/paylatch/webhooks/yookassa"
)

// answers is a provider's API with these responses, by the request's line.
func answers(t *testing.T, said map[string]func() string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		say := said[r.Method+" "+r.URL.Path]
		if say == nil {
			t.Errorf("nobody expected %s %s", r.Method, r.URL.Path)
			return
		}
		_, _ = io.WriteString(w, say())
	}))
	t.Cleanup(s.Close)
	return s
}

// notify delivers a notice in the provider's own format.
func (r *env) notify(t *testing.T, v webhooks.Verifier, d webhooks.Delivery) []fsm.Verdict {
	t.Helper()
	d.Method, d.ReceivedAt, d.RemoteAddr = http.MethodPost, time.Now(), netip.MustParseAddr("127.0.0.1")
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
	return r.tell(t, events...)
}

// YooKassa signs nothing: the response of its API counts, of payments and of refunds, also where
// the notice comes before the response that brings the payment's id.
func fetchYookassa(t *testing.T) {
	t.Parallel()
	v, err := yookassahooks.New(webhooks.Config{AllowedIPs: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	require.NoError(t, err)
	const sum = `"amount":{"value":"19.99","currency":"EUR"}`
	object := func(status string) string { return `{"id":"pay-1","status":"` + status + `",` + sum + `}` }
	notice := func(event, object string) webhooks.Delivery {
		return webhooks.Delivery{Body: []byte(`{"type":"notification","event":"` + event + `","object":` + object + `}`)}
	}
	var status atomic.Pointer[string]
	is := func(s string) { status.Store(&s) }
	is("pending")
	var r *env
	s := answers(t, map[string]func() string{
		"POST /v3/payments": func() string {
			if verdicts := r.notify(t, v, notice("payment.succeeded", object("succeeded"))); verdicts[0] != payment.VerdictDeferred {
				t.Errorf("the notice is %s", verdicts)
			}
			return object("pending")
		},
		"GET /v3/payments/pay-1": func() string { return object(*status.Load()) },
		"GET /v3/refunds/re-1": func() string {
			return `{"id":"re-1","payment_id":"pay-1","status":"succeeded","amount":{"value":"7.00","currency":"EUR"}}`
		},
	})
	r = newEnv(t, setup{silent: true, provider: func(gateway.Provider) gateway.Provider { return yookassa.New(s.URL, "shop", "key", s.Client()) }})

	id := r.paid(t, "A-1", "one-time").ID
	require.Equal(t, requested, standingOf(r.attempt(t, id).Attempt))
	r.retry(t, false)
	require.Equal(t, requested, standingOf(r.attempt(t, id).Attempt))
	is("succeeded")
	r.notify(t, v, notice("payment.succeeded", object("succeeded")))
	r.retry(t, true)
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))

	r.notify(t, v, notice("refund.succeeded", `{"id":"re-1","payment_id":"pay-1","status":"succeeded",`+sum+`}`))
	r.retry(t, true)
	require.Equal(t, []string{"provider re-1 succeeded 700"}, r.refunds(t, id))
	require.EqualValues(t, 700, r.attempt(t, id).Refunded)
	require.Empty(t, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

// T-Bank signs its notices, which name no refund, and has no call that does.
func fetchRefundTbankCabinet(t *testing.T) {
	t.Parallel()
	const password = "secret"
	v, err := tbankhooks.New(webhooks.Config{Secrets: []string{password}, Params: map[string]string{"currency": "EUR"}})
	require.NoError(t, err)
	body := func(id, status string) string {
		return fmt.Sprintf(`{"TerminalKey":"t","Success":true,"ErrorCode":"0","Status":%q,"PaymentId":%q,"Amount":%d}`, status, id, price)
	}
	var serial atomic.Int32
	last := func() string { return strconv.Itoa(int(serial.Load())) }
	s := answers(t, map[string]func() string{
		"POST /v2/Init": func() string {
			serial.Add(1)
			return body(last(), "NEW")
		},
		"POST /v2/GetCardList": func() string { return `[{"RebillId":"rebill","Status":"A"}]` },
		"POST /v2/Charge":      func() string { return body(last(), "CONFIRMED") },
		"POST /v2/GetState":    func() string { return body(last(), "PARTIAL_REFUNDED") },
	})
	client, err := tbank.New(s.URL, "t", password, "EUR", s.Client())
	require.NoError(t, err)
	r := newEnv(t, setup{silent: true, provider: func(gateway.Provider) gateway.Provider { return client }})
	for status, want := range map[string]struct {
		refunded int64
		open     []string
	}{
		"REFUNDED":         {price, []string{}},
		"PARTIAL_REFUNDED": {0, []string{"needs_review"}},
	} {
		paid := r.paid(t, payment.OrderID("A-"+strings.ToLower(status)), "rebill")
		require.Equal(t, succeeded, standingOf(paid.Attempt))
		d := webhooks.Delivery{Body: []byte(body(paid.ProviderPaymentID, status))}
		require.NoError(t, v.Sign(&d))
		r.notify(t, v, d)
		r.retry(t, true)
		require.Equal(t, want.refunded, r.attempt(t, paid.ID).Refunded, status)
		require.Equal(t, want.open, r.discrepancies(t, paid.ID), status)
	}
	require.Empty(t, r.verify(t))
}

// A provider may return a refund that was cancelled no more (Mollie). The notice shows since
// when it must have existed, if the provider itself has sent that.
func fetchRefundAgeFromTheNotice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signed int
		age    time.Duration
		parked int
	}{"signed": {0, 20 * time.Minute, 0}, "unsigned": {-1, 0, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &backs{}
			p.refund = func() (gateway.RefundOutcome, error) {
				if p.asked[len(p.asked)-1].Age < 10*time.Minute {
					return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment
				}
				return gateway.RefundOutcome{Event: fsm.EventFailed, ProviderRefundID: "re_1", Failure: payment.NewFailure("canceled", "")}, nil
			}
			r := newEnv(t, setup{silent: true, provider: p.on})
			e := hint(webhooks.KindRefundFailed, r.paid(t, "A-1", "tok_success").ProviderPaymentID)
			e.RefundID, e.SecretIndex = "re_1", c.signed
			r.tell(t, e)
			r.retry(t, true)
			require.EqualValues(t, 1, r.parked(t))
			r.exec(t, "UPDATE provider_events SET received_at = received_at - interval '20 minutes'")
			r.retry(t, true)
			require.Less(t, p.asked[0].Age, 10*time.Minute)
			require.InDelta(t, c.age.Minutes(), p.asked[1].Age.Minutes(), 5)
			require.EqualValues(t, c.parked, r.parked(t))
			require.Empty(t, rows[string](t, r, "SELECT text FROM discrepancies"))
		})
	}
}

// The same with the formats of providers whose notices need a lookup: the response of their API counts, and it is a
// moment behind.
func fetchAgainAdapters(t *testing.T) {
	t.Parallel()
	yoo, err := yookassahooks.New(webhooks.Config{AllowedIPs: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	require.NoError(t, err)
	moll, err := molliehooks.New(webhooks.Config{})
	require.NoError(t, err)
	yooPays := func(status string) string {
		return `{"id":"pay-1","status":"` + status + `","amount":{"value":"19.99","currency":"EUR"}}`
	}
	mollPays := func(status string) string {
		return `{"resource":"payment","id":"tr_1","status":"` + status + `","amount":{"value":"19.99","currency":"EUR"},"_links":{"checkout":{"href":"https://pay.example/1"}}}`
	}
	for name, c := range map[string]struct {
		verifier webhooks.Verifier
		notice   string
		client   func(s *httptest.Server) gateway.Provider
		says     func(status string) string
		pay, get string
		statuses [3]string
	}{
		"yookassa": {
			yoo, `{"type":"notification","event":"payment.succeeded","object":` + yooPays("succeeded") + `}`,
			func(s *httptest.Server) gateway.Provider { return yookassa.New(s.URL, "shop", "key", s.Client()) }, yooPays,
			"POST /v3/payments", "GET /v3/payments/pay-1",
			[3]string{"pending", "canceled", "succeeded"},
		},
		"mollie": {
			moll,
			"id=tr_1",
			func(s *httptest.Server) gateway.Provider { return mollie.New(s.URL, "test_key", "", s.Client()) }, mollPays,
			"POST /v2/payments", "GET /v2/payments/tr_1",
			[3]string{"open", "open", "paid"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var status atomic.Pointer[string]
			s := answers(t, map[string]func() string{
				c.pay: func() string { return c.says(c.statuses[0]) },
				c.get: func() string { return c.says(*status.Load()) },
			})
			r := newEnv(t, setup{silent: true, provider: func(gateway.Provider) gateway.Provider { return c.client(s) }})
			id := r.paid(t, "A-1", "one-time").ID
			before := standingOf(r.attempt(t, id).Attempt)
			status.Store(&c.statuses[1])
			r.notify(t, c.verifier, webhooks.Delivery{Body: []byte(c.notice)})
			r.retry(t, true)
			require.Equal(t, before, standingOf(r.attempt(t, id).Attempt))
			status.Store(&c.statuses[2])
			r.retry(t, true)
			require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
			require.Equal(t, []string{"applied"}, r.verdicts(t, id))
			require.Empty(t, r.verify(t))
		})
	}
}

// GoCardless may collect a debit again after it failed late, under the same id. The events have the times that the lookup lacks.
func fetchCollectedAgainAtGocardless(t *testing.T) {
	t.Parallel()
	v, err := gocardlesshooks.New(webhooks.Config{Secrets: []string{"secret"}})
	require.NoError(t, err)
	var status atomic.Pointer[string]
	s := answers(t, map[string]func() string{"GET /payments/PM1": func() string {
		return `{"payments":{"id":"PM1","status":"` + *status.Load() + `","amount":1999,"currency":"EUR","metadata":{}}}`
	}})
	r := newEnv(t, setup{silent: true, provider: func(gateway.Provider) gateway.Provider { return gocardless.New(s.URL, "token", s.Client()) }})
	r.order(t, "A-1")
	id := r.register(t, commands.External{OrderID: "A-1", ProviderPaymentID: "PM1"}).ID
	began := time.Now().Add(-20 * 24 * time.Hour).Truncate(time.Second)
	deliver := func(action, now string, day int) {
		status.Store(&now)
		d := webhooks.Delivery{Body: fmt.Appendf(nil, `{"events":[{"id":%q,"created_at":%q,"resource_type":"payments","action":%q,"links":{"payment":"PM1"}}]}`,
			"EV"+serial(), began.AddDate(0, 0, day).UTC().Format(time.RFC3339), action)}
		require.NoError(t, v.Sign(&d))
		r.notify(t, v, d)
		r.retry(t, true)
	}
	held := func() int64 {
		a := r.attempt(t, id)
		return a.Held()
	}
	for _, step := range []struct {
		action, now string
		day         int
		held        int64
	}{
		{"confirmed", "confirmed", 1, price},
		{"failed", "failed", 4, 0},
		{"failed", "failed", 4, 0},
		{"confirmed", "confirmed", 9, price},
		{"confirmed", "confirmed", 1, price}, // a late copy of the first
		{"failed", "confirmed", 4, price},    // and of the failure
		{"paid_out", "paid_out", 10, price},
		{"late_failure_settled", "paid_out", 11, price}, // of the payout that had the first debit
		{"failed", "failed", 12, 0},
		{"confirmed", "confirmed", 17, price},
	} {
		deliver(step.action, step.now, step.day)
		require.Equal(t, step.held, held(), "%s on day %d", step.action, step.day)
	}
	require.Equal(t, []int64{3 * price}, rows[int64](t, r, "SELECT sum(amount)::bigint FROM money_movements WHERE attempt_id = $1 AND kind = 'capture'", id.String()))
	require.Empty(t, r.verify(t))
}

// A browser writes the notes of a payment at Razorpay, and both marks of a payment at CloudPayments. The mark of one order in a
// payment of another pays only the order that the provider's own names are of.
func paymentsBrowserMarkBodies(t *testing.T) {
	t.Parallel()
	razor, err := razorpayhooks.New(webhooks.Config{Secrets: []string{"secret"}})
	require.NoError(t, err)
	cloud, err := cloudpaymentshooks.New(webhooks.Config{Secrets: []string{"secret"}})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		verifier interface {
			webhooks.Verifier
			webhooks.Signer
		}
		// topic and body are of the payment with A's mark, own is the body that names B alone.
		topic                string
		body, own            func(a, b payment.AttemptID) string
		container, paymentID string
	}{
		"razorpay": {
			razor, "",
			func(a, _ payment.AttemptID) string {
				return razorpayEvent("payment.captured", razorpayPaid("pay_1", "order_B", price, a.String()))
			},
			func(a, b payment.AttemptID) string {
				return razorpayEvent("order.paid", razorpayPaid("pay_1", "order_B", price, a.String())+
					fmt.Sprintf(`,"order":{"entity":{"id":"order_B","amount":%d,"amount_paid":%[1]d,"currency":"EUR","notes":{"payment_attempt_id":%q}}}`, price, b))
			},
			"order_B", "pay_1",
		},
		"cloudpayments": {
			cloud, "pay",
			func(a, b payment.AttemptID) string {
				return fmt.Sprintf(`TransactionId=17&Amount=19.99&Currency=EUR&Status=Completed&InvoiceId=%s&Data={"payment_attempt_id":%q}`, b, a)
			},
			func(_, b payment.AttemptID) string {
				return fmt.Sprintf(`TransactionId=18&Amount=19.99&Currency=EUR&Status=Completed&InvoiceId=%s`, b)
			},
			"", "18",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := deaf(t)
			a, b := r.begun(t, "A-1", price, payment.CaptureAutomatic), r.begun(t, "B-1", price, payment.CaptureAutomatic)
			if c.container != "" {
				e := event(webhooks.KindActionRequired, b.String(), c.container)
				e.Container = c.container
				require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, e))
			}
			deliver := func(body string) []fsm.Verdict {
				d := webhooks.Delivery{Body: []byte(body), Topic: c.topic}
				require.NoError(t, c.verifier.Sign(&d))
				return r.notify(t, c.verifier, d)
			}
			require.Equal(t, []fsm.Verdict{fsm.Conflict}, deliver(c.body(a, b)))
			require.Len(t, r.about(t, a), 1)
			require.Contains(t, r.about(t, a)[0], "unproven_payment")
			require.Zero(t, r.attempt(t, b).Captured)
			require.Equal(t, []fsm.Verdict{fsm.Applied}, deliver(c.own(a, b)))
			require.Equal(t, c.paymentID, r.attempt(t, b).ProviderPaymentID)
			require.Equal(t, payment.OrderPaid, r.orderOf(t, "B-1").Status())
			require.Empty(t, r.about(t, b))
			require.Zero(t, r.attempt(t, a).Captured)
			require.NotEqual(t, payment.OrderPaid, r.orderOf(t, "A-1").Status())
		})
	}
}

// The event of a paid order at Razorpay contains the order's total and its last payment. Only that payment's amount is its own.
func paymentsPartsOfAnOrder(t *testing.T) {
	t.Parallel()
	v, err := razorpayhooks.New(webhooks.Config{Secrets: []string{"secret"}})
	require.NoError(t, err)
	r := deaf(t)
	for i, events := range [][]string{{"pay_1", "pay_2", "order"}, {"pay_1", "order", "pay_2"}, {"order", "pay_1", "pay_2"}} {
		id := r.begun(t, payment.OrderID(fmt.Sprintf("A-%d", i)), 1000, payment.CaptureAutomatic)
		order := fmt.Sprintf("order_%d", i)
		r.tell(t, event(webhooks.KindProcessing, id.String(), order))
		first, last := razorpayPaid(fmt.Sprintf("pay_1_%d", i), order, 400, ""), razorpayPaid(fmt.Sprintf("pay_2_%d", i), order, 600, "")
		bodies := map[string]string{
			"pay_1": razorpayEvent("payment.captured", first), "pay_2": razorpayEvent("payment.captured", last),
			"order": razorpayEvent("order.paid", last+fmt.Sprintf(`,"order":{"entity":{"id":%q,"amount":1000,"amount_paid":1000,"currency":"EUR","notes":{"payment_attempt_id":%q}}}`, order, id)),
		}
		for _, name := range events {
			d := webhooks.Delivery{Body: []byte(bodies[name])}
			require.NoError(t, v.Sign(&d))
			r.notify(t, v, d)
		}
		a := r.attempt(t, id)
		require.True(t, a.Succeeded(), events)
		require.EqualValues(t, 1000, a.Captured, events)
		require.Len(t, a.Payments, 2)
		require.NotContains(t, r.discrepancies(t, id), "needs_review", "nothing was charged twice")
	}
	require.Empty(t, r.verify(t))
}

// razorpayEvent is a body of Razorpay's with these entities.
func razorpayEvent(event, entities string) string {
	return fmt.Sprintf(`{"event":%q,"contains":["payment"],"created_at":%d,"payload":{%s}}`, event, time.Now().Unix(), entities)
}

// razorpayPaid is a captured payment of an order, with the notes of a browser if there is a mark.
func razorpayPaid(id, order string, minor int64, mark string) string {
	notes := "[]"
	if mark != "" {
		notes = fmt.Sprintf(`{"payment_attempt_id":%q}`, mark)
	}
	return fmt.Sprintf(`"payment":{"entity":{"id":%q,"order_id":%q,"status":"captured","amount":%d,"currency":"EUR","notes":%s}}`, id, order, minor, notes)
}
