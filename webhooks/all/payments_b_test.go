package all_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

// paidTwiceIn are the messages of a kind, and a function that makes a genuine delivery of each.
type paidTwiceIn struct {
	twice

	kind, name string
	deliver    func(t *testing.T, v webhooks.Verifier, message string) webhooks.Delivery
}

// TestPaymentsAreToldApartElsewhere is TestPaymentsAreToldApart for the kinds whose messages are more than a signed body, and
// for those beside them.
func TestPaymentsAreToldApartElsewhere(t *testing.T) {
	t.Parallel()
	for _, c := range paidTwiceElsewhere() {
		t.Run(c.kind+c.name, func(t *testing.T) {
			t.Parallel()
			c.check(t, func(message string) webhooks.Event { return c.event(t, message) })
		})
	}
}

// pageless are the soft failures after which no customer can try again on a page, with the reason.
var pageless = map[string]string{
	"paypal PAYMENT.CAPTURE.DECLINED":              "a capture of a hold was declined",
	"paypal CHECKOUT.PAYMENT-APPROVAL.REVERSED":    "the order was not captured in time",
	"stripe checkout.session.async_payment_failed": "the session is complete",
	"lemonsqueezy subscription_payment_failed":     "Lemon Squeezy repeats the charge",
}

// TestSoftFailuresLeaveThePageOpen: after a declined try the customer may try again, at each kind with a page. If a soft failure
// does not say that the page is open, the payment is cancelled.
func TestSoftFailuresLeaveThePageOpen(t *testing.T) {
	t.Parallel()
	check := func(kind string, c twice, read func(body string) webhooks.Event) {
		for _, body := range slices.Concat(c.ofFirst, c.ofSecond, c.ends) {
			if e := read(body); e.Kind == webhooks.KindSoftFailed && pageless[kind+" "+e.Type] == "" {
				require.True(t, e.PageOpen, "%s %s", kind, e.Type)
			}
		}
	}
	for kind, c := range paidTwice() {
		check(kind, c, func(body string) webhooks.Event { return received(t, kind, body) })
	}
	for _, c := range paidTwiceElsewhere() {
		check(c.kind, c.twice, func(body string) webhooks.Event { return c.event(t, body) })
	}
}

func paidTwiceElsewhere() []paidTwiceIn {
	return []paidTwiceIn{
		cloudPaymentsTwice(), comgateTwice(), goCardlessTwice(), goPayTwice(), lemonSqueezyTwice(), lemonSqueezyInvoices(), mollieTwice(),
		paddleTwice(), robokassaTwice(), tBankTwice(), yooKassaTwice(), standardTwice("standard"), standardTwice("sandbox"),
	}
}

// event is the only event of a genuine delivery of the message.
func (c paidTwiceIn) event(t *testing.T, message string) webhooks.Event {
	t.Helper()
	v := verifiers(t)[c.kind]
	deliver := c.deliver
	if deliver == nil {
		deliver = signed
	}
	events, err := v.Verify(t.Context(), deliver(t, v, message))
	require.NoError(t, err, message)
	require.Len(t, events, 1)
	providertest.RequireSound(t, events[0])
	return events[0]
}

func signed(t *testing.T, v webhooks.Verifier, body string) webhooks.Delivery {
	t.Helper()
	signer, ok := v.(webhooks.Signer)
	require.True(t, ok)
	return providertest.Signed(t, signer, body)
}

// cloudPaymentsTwice are two transactions on one page. Each takes money by itself.
func cloudPaymentsTwice() paidTwiceIn {
	form := "&Amount=19.99&Currency=RUB&TestMode=1&InvoiceId=" + tried
	return paidTwiceIn{
		kind: "cloudpayments",
		twice: twice{
			first: "501", second: "502", mode: webhooks.ModeTest, claimed: true,
			ofFirst: []string{
				"check TransactionId=501&Status=Authorized" + form, "pay TransactionId=501&Status=Authorized" + form, "confirm TransactionId=501" + form,
				"refund TransactionId=601&PaymentTransactionId=501" + form,
			},
			ofSecond: []string{"pay TransactionId=502&Status=Completed" + form, "cancel TransactionId=502" + form, "fail TransactionId=502&ReasonCode=5051" + form},
		},
		deliver: func(t *testing.T, v webhooks.Verifier, message string) webhooks.Delivery {
			t.Helper()
			topic, body, _ := strings.Cut(message, " ")
			d := signed(t, v, body)
			d.Topic = topic
			return d
		},
	}
}

func comgateTwice() paidTwiceIn {
	form := "&merchant=123456&test=true&price=1999&curr=CZK&label=x&refId=" + tried
	return paidTwiceIn{kind: "comgate", twice: twice{
		first: "AAAA-AAAA-0001", second: "AAAA-AAAA-0002", payee: "123456", mode: webhooks.ModeTest, claimed: true,
		ofFirst:  []string{"transId=AAAA-AAAA-0001&status=AUTHORIZED" + form, "transId=AAAA-AAAA-0001&status=PAID" + form},
		ofSecond: []string{"transId=AAAA-AAAA-0002&status=PENDING" + form, "transId=AAAA-AAAA-0002&status=CANCELLED" + form},
	}}
}

// goCardlessTwice are the payments of two billing requests; a third was cancelled without one.
func goCardlessTwice() paidTwiceIn {
	event := func(resource, action, links string) string {
		return fmt.Sprintf(`{"events":[{"id":"EV1","resource_type":%q,"action":%q,"links":{"organisation":"OR1",%s},"resource_metadata":{"payment_attempt_id":%q}}]}`,
			resource, action, links, tried)
	}
	return paidTwiceIn{kind: "gocardless", twice: twice{
		first: "PM1", second: "PM2", container: "BRQ1", payee: "OR1",
		ofFirst: []string{
			event("billing_requests", "fulfilled", `"billing_request":"BRQ1","payment_request_payment":"PM1"`),
			event("payments", "confirmed", `"payment":"PM1"`), event("payments", "charged_back", `"payment":"PM1"`),
		},
		ofSecond: []string{
			event("billing_requests", "fulfilled", `"billing_request":"BRQ2","payment_request_payment":"PM2"`),
			event("payments", "cancelled", `"payment":"PM2"`), event("payments", "failed", `"payment":"PM2"`),
		},
		ends: []string{event("billing_requests", "cancelled", `"billing_request":"BRQ3"`)},
	}}
}

// goPayTwice are notices, which say no more than an id: what became of the payment is looked up.
func goPayTwice() paidTwiceIn {
	const address = "https://pay.example/hook?payment_attempt_id=" + tried + "&id="
	return paidTwiceIn{
		kind: "gopay",
		twice: twice{
			first: "3000000001", second: "3000000002", claimed: true,
			ofFirst: []string{address + "3000000001", "https://pay.example/hook?id=3000000001"}, ofSecond: []string{address + "3000000002"},
		},
		deliver: func(_ *testing.T, _ webhooks.Verifier, message string) webhooks.Delivery {
			return webhooks.Delivery{Method: http.MethodGet, URL: message, ReceivedAt: providertest.Now}
		},
	}
}

func lemonSqueezyEvent(name, object, id, more string) string {
	return fmt.Sprintf(`{"meta":{"event_name":%q,"test_mode":true,"custom_data":{"payment_attempt_id":%q}},"data":{"type":%q,"id":%q,`+
		`"attributes":{"store_id":101,"currency":"USD","total":1999,"updated_at":"2026-03-14T15:09:20Z",%s}}}`, name, tried, object, id, more)
}

// lemonSqueezyTwice are two orders by one link.
func lemonSqueezyTwice() paidTwiceIn {
	return paidTwiceIn{kind: "lemonsqueezy", twice: twice{
		first: "7", second: "8", payee: "101", mode: webhooks.ModeTest, claimed: true,
		ofFirst: []string{
			lemonSqueezyEvent("order_created", "orders", "7", `"status":"paid"`), lemonSqueezyEvent("order_refunded", "orders", "7", `"refunded_amount":500`),
		},
		ofSecond: []string{
			lemonSqueezyEvent("order_created", "orders", "8", `"status":"paid"`), lemonSqueezyEvent("order_created", "orders", "8", `"status":"failed"`),
		},
	}}
}

// lemonSqueezyInvoices are an order and an invoice of a subscription, which are numbered apart.
func lemonSqueezyInvoices() paidTwiceIn {
	c := lemonSqueezyTwice()
	c.name, c.second = " invoices", "subscription-invoices/7"
	c.ofSecond = []string{
		lemonSqueezyEvent("subscription_payment_recovered", "subscription-invoices", "7", `"status":"paid"`),
		lemonSqueezyEvent("subscription_payment_failed", "subscription-invoices", "7", `"status":"pending"`),
	}
	return c
}

// mollieTwice are two payments of an order, and a payment link that was paid: by which payment is looked up.
func mollieTwice() paidTwiceIn {
	event := func(name, id, more string) string {
		return fmt.Sprintf(`{"resource":"event","id":"event_1","type":%q,"entityId":%q,"_embedded":{"entity":{"mode":"live","profileId":"pfl_1",`+
			`"amount":{"value":"19.99","currency":"EUR"},"metadata":{"payment_attempt_id":%q}%s}}}`, name, id, tried, more)
	}
	const ordered = `,"orderId":"ord_1"`
	return paidTwiceIn{kind: "mollie", twice: twice{
		first: "tr_1", second: "tr_2", container: "ord_1", payee: "pfl_1", mode: webhooks.ModeLive,
		ofFirst: []string{
			event("payment.authorized", "tr_1", ordered), event("payment.paid", "tr_1", ordered), event("capture.succeeded", "cpt_1", `,"paymentId":"tr_1"`),
			event("refund.refunded", "re_1", `,"paymentId":"tr_1"`), event("chargeback.received", "chb_1", `,"paymentId":"tr_1"`),
		},
		ofSecond: []string{event("payment.pending", "tr_2", ordered), event("payment.failed", "tr_2", ordered), event("payment.expired", "tr_2", ordered)},
		ends:     []string{event("payment-link.paid", "pl_1", "")},
	}}
}

func paddleTwice() paidTwiceIn {
	event := func(name, id, more string) string {
		return fmt.Sprintf(`{"event_id":"evt_1","event_type":%q,"data":{"id":%q,"custom_data":{"payment_attempt_id":%q},"currency_code":"USD",%s}}`, name, id, tried, more)
	}
	const totals = `"details":{"totals":{"grand_total":"1999"}}`
	return paidTwiceIn{kind: "paddle", twice: twice{
		first: "txn_1", second: "txn_2", claimed: true,
		ofFirst: []string{
			event("transaction.paid", "txn_1", totals), event("transaction.completed", "txn_1", totals),
			event("adjustment.created", "adj_1", `"transaction_id":"txn_1","action":"refund","status":"approved","totals":{"total":"500"}`),
		},
		ofSecond: []string{event("transaction.payment_failed", "txn_2", totals), event("transaction.canceled", "txn_2", totals)},
	}}
}

// robokassaTwice are results, in the old and the new names: nothing else is sent.
func robokassaTwice() paidTwiceIn {
	const mark = "&Shp_payment_attempt_id=" + tried
	return paidTwiceIn{kind: "robokassa", twice: twice{
		first: "58", second: "59",
		ofFirst: []string{"OutSum=19.99&InvId=58" + mark, "out_summ=19.99&inv_id=58" + mark}, ofSecond: []string{"OutSum=19.99&InvId=59" + mark},
	}}
}

// tBankTwice are two payments of one OrderId.
func tBankTwice() paidTwiceIn {
	event := func(id, status, success string) string {
		return fmt.Sprintf(`{"TerminalKey":"1DEMO","OrderId":%q,"PaymentId":%s,"Status":%q,"Success":%s,"ErrorCode":"0","Amount":1999}`, tried, id, status, success)
	}
	return paidTwiceIn{kind: "tbank", twice: twice{
		first: "13660123456789012345", second: "13660123456789012346", payee: "1DEMO", mode: webhooks.ModeTest, claimed: true,
		ofFirst: []string{
			event("13660123456789012345", "AUTHORIZED", "true"), event("13660123456789012345", "CONFIRMED", "true"), event("13660123456789012345", "REFUNDED", "true"),
		},
		ofSecond: []string{event("13660123456789012346", "AUTH_FAIL", "false"), event("13660123456789012346", "REJECTED", "false")},
	}}
}

// yooKassaTwice are two payments, the first by an invoice.
func yooKassaTwice() paidTwiceIn {
	event := func(name, id, more string) string {
		return fmt.Sprintf(`{"type":"notification","event":%q,"object":{"id":%q,"test":false,"recipient":{"account_id":"100500"},"amount":{"value":"19.99","currency":"RUB"},`+
			`"metadata":{"payment_attempt_id":%q}%s}}`, name, id, tried, more)
	}
	const invoice = `,"invoice_details":{"id":"in-1"}`
	return paidTwiceIn{
		kind: "yookassa",
		twice: twice{
			first: "pay-1", second: "pay-2", container: "in-1", payee: "100500", mode: webhooks.ModeLive,
			ofFirst: []string{event("payment.waiting_for_capture", "pay-1", invoice), event("payment.succeeded", "pay-1", invoice), event("refund.succeeded", "ref-1", `,"payment_id":"pay-1"`)},
			ofSecond: []string{
				event("payment.succeeded", "pay-2", ""), event("payment.canceled", "pay-2", `,"cancellation_details":{"reason":"general_decline"}`),
			},
		},
		deliver: func(_ *testing.T, _ webhooks.Verifier, message string) webhooks.Delivery {
			d := providertest.Unsigned(message)
			d.RemoteAddr = netip.MustParseAddr("185.71.76.1")
			return d
		},
	}
}

func standardTwice(kind string) paidTwiceIn {
	event := func(name, names, more string) string {
		return fmt.Sprintf(`{"id":"evt_1","type":%q,"created":"2026-03-14T15:09:20Z","data":{"reference":%q,"payee":"shop_1","test":false,%s%s}}`, name, tried, names, more)
	}
	const first, second = `"charge_id":"ch_1","container_id":"page_1"`, `"charge_id":"ch_2","container_id":"page_1"`
	const euros = `,"amount":1999,"currency":"EUR"`
	return paidTwiceIn{kind: kind, twice: twice{
		first: "ch_1", second: "ch_2", container: "page_1", payee: "shop_1", mode: webhooks.ModeLive,
		ofFirst: []string{
			event("charge.authorized", first, euros), event("charge.succeeded", first, euros), event("refund.succeeded", first, `,"refund_id":"re_1"`+euros),
			event("dispute.opened", first, `,"dispute_id":"dp_1","dispute_status":"open"`+euros),
		},
		ofSecond: []string{event("charge.pending", second, euros), event("charge.failed", second, `,"failure_code":"card_declined"`), event("charge.canceled", second, "")},
		ends:     []string{event("container.expired", `"container_id":"page_1"`, ""), event("container.canceled", first, "")},
	}}
}
