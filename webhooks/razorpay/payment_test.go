package razorpay_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

// TestBrowserMark: the notes of a payment are the browser's, unless a resource made by the server has the same mark.
func TestBrowserMark(t *testing.T) {
	t.Parallel()
	order := func(members string) string { return strings.Replace(razorpayOrder, `"notes":[]`, members, 1) }
	for name, test := range map[string]struct {
		event    string
		entities []string
		mark     string
		claimed  bool
	}{
		"payment alone":        {"payment.captured", []string{"payment", razorpayPayment}, "att_1", true},
		"another order":        {"order.paid", []string{"payment", razorpayPayment, "order", razorpayOrder}, "att_1", true},
		"order":                {"order.paid", []string{"payment", razorpayPayment, "order", order(`"notes":{"payment_attempt_id":"att_1"}`)}, "att_1", false},
		"order of another":     {"order.paid", []string{"payment", razorpayPayment, "order", order(`"notes":{"payment_attempt_id":"att_2"}`)}, "att_2", false},
		"receipt of the order": {"order.paid", []string{"payment", razorpayPayment, "order", strings.Replace(razorpayOrder, "rcpt_1", "att_1", 1)}, "att_1", false},
		"link of another":      {"payment_link.paid", []string{"payment", razorpayPayment, "payment_link", razorpayLink}, "att_1", true},
		"link":                 {"payment_link.paid", []string{"payment", razorpayPayment, "payment_link", razorpayLink + `,"notes":{"payment_attempt_id":"att_1"}`}, "att_1", false},
		"refund":               {"refund.created", []string{"refund", razorpayRefund}, "pay_1", false},
	} {
		e := providertest.Parsed(t, newVerifier(t), razorpayBody(test.event, test.entities...))
		require.Equal(t, test.mark, e.References[0], name)
		require.Equal(t, test.claimed, e.BrowserMark, name)
	}
}

// TestTheTotalIsNotThePayments: the event of a paid order or link contains its last payment. Earlier payments are part of the total.
func TestTheTotalIsNotThePayments(t *testing.T) {
	t.Parallel()
	const last = `"id":"pay_2","order_id":"order_1","amount":600,"currency":"INR","notes":[]`
	for event, entities := range map[string][]string{
		"order.paid":        {"payment", last, "order", razorpayOrder},
		"payment_link.paid": {"payment", last, "payment_link", razorpayLink},
	} {
		e := providertest.Parsed(t, newVerifier(t), razorpayBody(event, entities...))
		require.Equal(t, "pay_2", e.ProviderPaymentID)
		require.Equal(t, &webhooks.Money{Minor: 600, Currency: "INR"}, e.Money, event)
	}
}
