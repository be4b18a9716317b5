package cloudpayments_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/cloudpayments"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/cloudpayments"
)

// mobile is the browser of a telephone.
func mobile() *gateway.Browser {
	return &gateway.Browser{UserAgent: "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/124.0 Mobile Safari/537.36"}
}

// payer is a client that has made a payment by a link.
type payer struct {
	*cloudpayments.Client

	charge gateway.Charge
	sent   seen
}

// linked makes a payment by a link.
func linked(t *testing.T, token string) (*fake, *payer, gateway.Outcome) {
	t.Helper()
	f := serving()
	c, got := serve(t, f)
	ch := charge(token)
	ch.Stored, ch.Browser, ch.Customer.IP = false, mobile(), "203.0.113.9"
	o := charged(t, c, ch)
	return f, &payer{c, ch, <-got}, o
}

func TestALinkToAnApp(t *testing.T) {
	t.Parallel()
	const device = `,"Device":"Mobile","Os":"Android","Browser":"Chrome","Webview":false`
	for token, want := range map[string]struct{ line, more, url string }{
		"sbp":     {"POST /payments/qr/sbp/link", `"Scheme":"charge","TtlMinutes":30` + device, "https://qr.nspk.ru/501"},
		"tpay":    {"POST /payments/qr/tinkoffpay/link", `"Scheme":0,"TtlMinutes":30,"FailRedirectUrl":"https://shop.example/back"` + device, "https://o.tbank.ru/tpay/501"},
		"sberpay": {"POST /payments/qr/sberpay/link", `"Scheme":"charge"` + device, "sberpay://invoicing/501"},
	} {
		t.Run(token, func(t *testing.T) {
			t.Parallel()
			_, c, o := linked(t, token)
			require.Equal(t, gateway.Outcome{Event: fsm.EventActionRequired, ProviderPaymentID: "501", Live: new(false), NextAction: &payment.NextAction{
				Type: payment.ActionDisplay, URL: want.url, Data: o.NextAction.Data,
			}}, o)
			require.JSONEq(t, `{"type":"`+token+`","qr":"`+want.url+`"}`, string(o.NextAction.Data))
			require.Equal(t, want.line, c.sent.line)
			require.Equal(t, c.charge.IdempotencyKey, c.sent.header.Get("X-Request-Id"))
			require.JSONEq(t, `{
				"PublicId":"`+publicID+`","Amount":19.99,"Currency":"RUB","InvoiceId":"`+c.charge.Attempt.String()+`","AccountId":"u-1","IpAddress":"203.0.113.9",
				"SuccessRedirectUrl":"https://shop.example/back",
				"JsonData":{"payment_attempt_id":"`+c.charge.Attempt.String()+`","order_id":"A-1","app":"`+token+`"},`+want.more+`
			}`, c.sent.body)
			again := charged(t, c.Client, c.charge)
			require.Equal(t, o, again, "the same key, the same link")
			require.Equal(t, gateway.TokenSingleUse, c.TokenKind(token))
			payable, ends := c.Unseen(c.charge.Details)
			require.True(t, ends && payable == 0, "only the answer has the link")
			now, err := c.Lookup(t.Context(), o.ProviderPaymentID)
			require.NoError(t, err)
			require.Equal(t, fsm.EventActionRequired, now.Event)
		})
	}
}

func TestALinkHoldsMoney(t *testing.T) {
	t.Parallel()
	for token, scheme := range map[string]string{"tpay": `"Scheme":1`, "sberpay": `"Scheme":"auth"`} {
		f := serving()
		c, got := serve(t, f)
		ch := charge(token)
		ch.Stored, ch.Browser, ch.Capture = false, mobile(), payment.CaptureManual
		o := charged(t, c, ch)
		require.Contains(t, (<-got).body, scheme)
		f.transactions[0].status = "Authorized"
		taken, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: o.ProviderPaymentID, Money: rub(500), IdempotencyKey: "c", Permit: permit()})
		require.NoError(t, err)
		require.Equal(t, fsm.EventSucceeded, taken.Event)
	}
}

func TestALinkThatIsRefused(t *testing.T) {
	t.Parallel()
	c := says(t, http.StatusOK, `{"Success":false,"Message":"SBP is off","Model":null}`)
	ch := charge("sbp")
	ch.Stored = false
	require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "")}, charged(t, c, ch))
	for _, body := range []string{`{"Success":true,"Model":{"TransactionId":7,"QrUrl":null}}`, `{"Success":true,"Model":{"TransactionId":0,"QrUrl":"https://qr.nspk.ru/7"}}`} {
		_, err := says(t, http.StatusOK, body).Charge(t.Context(), ch)
		require.Error(t, err)
		require.NotErrorIs(t, err, gateway.ErrNotSent)
	}
}

// No call ends a link. A cancelled payment has failed once the link has expired. SberPay's link has no known end, so its
// cancel is refused.
func TestCancel_of_a_link(t *testing.T) {
	t.Parallel()
	for token, ends := range map[string]bool{"sbp": true, "tpay": true, "sberpay": false} {
		_, c, o := linked(t, token)
		for quiet, over := range map[time.Duration]bool{0: false, 40*time.Minute - 1: false, 40 * time.Minute: ends} {
			now, err := c.Cancel(t.Context(), gateway.Cancel{
				Attempt: c.charge.Attempt, ProviderPaymentID: o.ProviderPaymentID, IdempotencyKey: uuid.NewString(), Permit: permit(), Quiet: quiet,
			})
			require.NoError(t, err)
			want := fsm.EventActionRequired
			if over {
				want = fsm.EventFailed
			}
			require.Equal(t, want, now.Event, "%s after %s", token, quiet)
			require.Equal(t, !ends, now.Refused)
		}
	}
}

// A notification, or a lookup, ends a payment by a link. After a decline the page of a widget stays open, and so does a QR code of the SBP,
// until it has expired. The link to another app does not.
func TestANotificationEndsAPaymentByALink(t *testing.T) {
	t.Parallel()
	v, err := hooks.New(webhooks.Config{Secrets: []string{secret}})
	require.NoError(t, err)
	for _, want := range []struct {
		token, topic, status string
		kind                 webhooks.Kind
		event                fsm.Event
		open                 bool
	}{
		{"sbp", "pay", "Completed", webhooks.KindSucceeded, fsm.EventSucceeded, false},
		{"sbp", "fail", "Declined", webhooks.KindSoftFailed, fsm.EventSoftFailed, true},
		{"tpay", "fail", "Declined", webhooks.KindFailed, fsm.EventFailed, false},
		{"sberpay", "fail", "Declined", webhooks.KindFailed, fsm.EventFailed, false},
	} {
		topic := want.topic
		f, c, o := linked(t, want.token)
		paid := f.transactions[0]
		paid.status = want.status
		now, err := c.Lookup(t.Context(), o.ProviderPaymentID)
		require.NoError(t, err)
		require.Equal(t, want.event, now.Event)
		require.Equal(t, want.open, now.PageOpen)
		for quiet, open := range map[time.Duration]bool{0: want.open, 40 * time.Minute: false} {
			now, err = c.Cancel(t.Context(), gateway.Cancel{
				Attempt: c.charge.Attempt, ProviderPaymentID: o.ProviderPaymentID, IdempotencyKey: uuid.NewString(), Permit: permit(), Quiet: quiet,
			})
			require.NoError(t, err)
			require.Equal(t, open, now.PageOpen, "%s after %s", want.token, quiet)
			require.Equal(t, open, now.Event == fsm.EventSoftFailed)
		}

		body, err := json.Marshal(object{
			"TransactionId": 501, "Amount": "19.99", "Currency": "RUB", "Status": want.status, "OperationType": "Payment", "PaymentMethod": "Sbp",
			"InvoiceId": c.charge.Attempt.String(), "Data": string(paid.data), "ReasonCode": 5051,
		})
		require.NoError(t, err)
		d := webhooks.Delivery{
			Method: http.MethodPost, URL: "https://pay.example/webhooks/x/" + topic, Topic: topic, Header: http.Header{"Content-Type": {"application/json"}},
			Body: body, ReceivedAt: time.Unix(1, 0),
		}
		require.NoError(t, v.Sign(&d))
		events, err := v.Verify(t.Context(), d)
		require.NoError(t, err)
		require.Equal(t, want.kind, events[0].Kind)
		require.Equal(t, o.ProviderPaymentID, events[0].ProviderPaymentID)
		require.Equal(t, want.open, events[0].PageOpen)
		d.Body = []byte(strings.Replace(string(body), `\"app\"`, `\"app_of_another\"`, 1))
		require.NoError(t, v.Sign(&d))
		events, err = v.Verify(t.Context(), d)
		require.NoError(t, err)
		require.Equal(t, topic == "fail", events[0].PageOpen)
	}
}

// A refund by the SBP ends after its request, by a notification or a lookup.
func TestARefundByTheSBPEndsLater(t *testing.T) {
	t.Parallel()
	f, c, o := linked(t, "sbp")
	f.transactions[0].status = "Completed"
	f.refunds = "Pending"
	r := gateway.RefundCall{Refund: payment.RefundID(uuid.New()), Attempt: c.charge.Attempt, ProviderPaymentID: o.ProviderPaymentID, Money: rub(500), IdempotencyKey: "r", Permit: permit()}
	back, err := c.Refund(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: "502", Money: new(rub(500))}, back)
	v, err := hooks.New(webhooks.Config{Secrets: []string{secret}})
	require.NoError(t, err)
	for status, want := range map[string]struct {
		event fsm.Event
		kind  webhooks.Kind
	}{
		"Completed": {fsm.EventSucceeded, webhooks.KindRefundSucceeded}, "Declined": {fsm.EventFailed, webhooks.KindRefundFailed},
		"Pending": {fsm.EventProcessing, webhooks.KindRefundPending},
	} {
		f.transactions[1].status = status
		now, err := c.LookupRefund(t.Context(), gateway.RefundRef{Refund: r.Refund, ProviderRefundID: "502", ProviderPaymentID: o.ProviderPaymentID})
		require.NoError(t, err)
		require.Equal(t, want.event, now.Event)
		events := v.Read(webhooks.Delivery{
			Method: http.MethodPost, URL: "https://pay.example/webhooks/x/refund", Topic: "refund", Header: http.Header{"Content-Type": {"application/json"}},
			Body:       []byte(`{"TransactionId":502,"PaymentTransactionId":501,"Amount":"5.00","Status":"` + status + `","OperationType":"Refund","InvoiceId":"` + c.charge.Attempt.String() + `"}`),
			ReceivedAt: time.Unix(1, 0),
		})
		require.Equal(t, want.kind, events[0].Kind)
		require.Equal(t, []string{"502", "501"}, []string{events[0].RefundID, events[0].ProviderPaymentID})
	}
}
