package razorpay_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/razorpay"
)

func newVerifier(tb testing.TB) *razorpay.Verifier {
	tb.Helper()
	v, err := razorpay.New(webhooks.Config{Secrets: []string{"razorpay-secret"}})
	require.NoError(tb, err)
	return v
}

// razorpayBody returns an event that contains these entities.
func razorpayBody(event string, entities ...string) string {
	var contains, payload []string
	for pair := range slices.Chunk(entities, 2) {
		contains = append(contains, fmt.Sprintf("%q", pair[0]))
		payload = append(payload, fmt.Sprintf(`%q:{"entity":{%s}}`, pair[0], pair[1]))
	}
	return fmt.Sprintf(`{"entity":"event","event":%q,"contains":[%s],"payload":{%s},"created_at":1773500960}`,
		event, strings.Join(contains, ","), strings.Join(payload, ","))
}

const (
	razorpayPayment = `"id":"pay_1","order_id":"order_1","amount":29599,"currency":"INR","notes":{"payment_attempt_id":"att_1"}`
	razorpayOrder   = `"id":"order_1","receipt":"rcpt_1","amount":30000,"amount_paid":29599,"currency":"INR","notes":[]`
	razorpayRefund  = `"id":"rfnd_1","payment_id":"pay_1","amount":500,"currency":"INR","receipt":"ref_1","notes":[]`
	razorpayDispute = `"id":"disp_1","payment_id":"pay_1","amount":39000,"amount_deducted":0,"currency":"INR"`
	razorpayLink    = `"id":"plink_1","order_id":"order_1","reference_id":"att_2","amount":500,"amount_paid":500,"currency":"KWD"`
)

func TestEvent(t *testing.T) {
	t.Parallel()
	require.Equal(t, webhooks.Event{
		ID: "order.paid:1773500960:pay_1:order_1", IDSource: webhooks.Derived, Type: "order.paid", Kind: webhooks.KindSucceeded,
		References: []string{"att_1", "rcpt_1", "pay_1", "order_1"}, ProviderPaymentID: "pay_1", Container: "order_1", BrowserMark: true,
		Money:      &webhooks.Money{Minor: 29599, Currency: "INR"},
		OccurredAt: time.Date(2026, 3, 14, 15, 9, 20, 0, time.UTC),
	}, providertest.Parsed(t, newVerifier(t), razorpayBody("order.paid", "payment", razorpayPayment, "order", razorpayOrder)))
}

func TestKinds(t *testing.T) {
	t.Parallel()
	failed := func(reason string) string {
		return razorpayBody("payment.failed", "payment", razorpayPayment+`,"error_code":"BAD_REQUEST_ERROR","error_reason":`+reason)
	}
	providertest.Says(t, newVerifier(t), map[string]string{
		razorpayBody("payment.authorized", "payment", razorpayPayment):                                             "authorized 29599 INR of att_1 pay_1 order_1",
		razorpayBody("payment.captured", "payment", razorpayPayment):                                               "succeeded 29599 INR of att_1 pay_1 order_1",
		razorpayBody("payment.captured", "payment", `"id":"pay_1","notes":[]`):                                     "succeeded of pay_1",
		failed(`"insufficient_funds"`):                                                                             "soft_failed 29599 INR of att_1 pay_1 order_1 for insufficient_funds/insufficient_funds, page open",
		failed(`"payment_cancelled"`):                                                                              "soft_failed 29599 INR of att_1 pay_1 order_1 for canceled/payment_cancelled, page open",
		failed(`null`):                                                                                             "soft_failed 29599 INR of att_1 pay_1 order_1 for provider_rejected/BAD_REQUEST_ERROR, page open",
		razorpayBody("refund.created", "refund", razorpayRefund, "payment", razorpayPayment):                       "refund_pending 500 INR of att_1 pay_1 order_1 by rfnd_1/ref_1",
		razorpayBody("refund.processed", "refund", razorpayRefund+`,"notes":{"refund_id":"ref_2"}`):                "refund_succeeded 500 INR of pay_1 by rfnd_1/ref_2",
		razorpayBody("refund.processed", "refund", razorpayRefund):                                                 "refund_succeeded 500 INR of pay_1 by rfnd_1/ref_1",
		razorpayBody("refund.failed", "refund", razorpayRefund):                                                    "refund_failed 500 INR of pay_1 by rfnd_1/ref_1 for provider_rejected/",
		razorpayBody("refund.processed", "refund", razorpayRefund, "payment", razorpayPayment+`,"captured":true`):  "refund_succeeded 500 INR of att_1 pay_1 order_1 by rfnd_1/ref_1",
		razorpayBody("refund.processed", "refund", razorpayRefund, "payment", razorpayPayment+`,"captured":false`): "ignored of att_1 pay_1 order_1",
		razorpayBody("refund.speed_changed", "refund", razorpayRefund):                                             "ignored",
		razorpayBody("payment.dispute.created", "payment", razorpayPayment, "dispute", razorpayDispute):            "disputed 39000 INR of att_1 pay_1 order_1",
		razorpayBody("payment.dispute.lost", "dispute", razorpayDispute+`,"amount_deducted":100`):                  "chargeback 100 INR of pay_1 moving disp_1",
		razorpayBody("payment.dispute.won", "dispute", razorpayDispute):                                            "dispute_closed 39000 INR of pay_1",
		razorpayBody("payment_link.paid", "payment_link", razorpayLink, "order", razorpayOrder):                    "succeeded 500 KWD of att_2 rcpt_1 order_1 plink_1",
		razorpayBody("payment_link.paid", "payment_link", razorpayLink+`,"amount":900,"amount_paid":500`):          "succeeded 500 KWD of att_2 order_1 plink_1",
		razorpayBody("payment_link.expired", "payment_link", razorpayLink):                                         "failed 500 KWD of att_2 order_1 plink_1 for expired/",
		razorpayBody("payment_link.cancelled", "payment_link", razorpayLink+`,"amount_paid":0`):                    "failed 500 KWD of att_2 order_1 plink_1 for canceled/",
		razorpayBody("payment.downtime.started", "payment.downtime", `"id":"down_1"`):                              "ignored",
		`{"event":"x","payload":{"created_at":1}}`:                                                                 "ignored",
	})
}

func TestReplayUnderAnotherIDIsNoNews(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	d := providertest.Signed(t, v, razorpayBody("payment.captured", "payment", razorpayPayment))
	ids := map[string]bool{}
	for _, id := range []string{"evt_1", "evt_2", ""} {
		d.Header.Set("X-Razorpay-Event-Id", id)
		events, err := v.Verify(t.Context(), d)
		require.NoError(t, err)
		ids[events[0].ID] = true
	}
	require.Len(t, ids, 1)
	other := providertest.Parsed(t, v, razorpayBody("payment.captured", "payment", `"id":"pay_2"`))
	require.NotContains(t, ids, other.ID)
}

func TestSignature(t *testing.T) {
	t.Parallel()
	body := `{"event":"x"}`
	providertest.Rotation(t, razorpay.New, body, webhooks.Config{})
	require.ErrorIs(t, providertest.Refused(t, newVerifier(t), webhooks.Delivery{Body: []byte(body)}), webhooks.ErrSignatureMissing)
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	providertest.Unreadable(t, newVerifier(t), ``, `{}`, `{"event":"payment.captured"}`, `{"event":1}`,
		razorpayBody("order.paid", "payment", razorpayPayment),
		razorpayBody("payment.captured", "payment", `"amount":1.5`),
		razorpayBody("payment.captured", "payment", `"amount":-1,"currency":"INR"`))
}

func ExampleVerifier_Verify() {
	razorpay, err := razorpay.New(webhooks.Config{Secrets: []string{"new-secret", "old-secret"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := webhooks.Delivery{Body: []byte(`{"event":"payment.captured","contains":["payment"],"created_at":1773500960,"payload":` +
		`{"payment":{"entity":{"id":"pay_1","amount":29599,"currency":"INR","notes":{"payment_attempt_id":"att_1"}}}}}`)}
	if err := razorpay.Sign(&d); err != nil {
		fmt.Println(err)
		return
	}
	events, err := razorpay.Verify(context.Background(), d)
	fmt.Println(err)
	for _, e := range events {
		fmt.Println(e.ID, e.Kind, e.References, *e.Money)
	}
	// Output:
	// <nil>
	// payment.captured:1773500960:pay_1 succeeded [att_1 pay_1] {29599 INR}
}

func FuzzVerify(f *testing.F) {
	for i, body := range []string{
		razorpayBody("order.paid", "payment", razorpayPayment, "order", razorpayOrder), razorpayBody("refund.failed", "refund", razorpayRefund),
		razorpayBody("payment.dispute.lost", "dispute", razorpayDispute), razorpayBody("payment_link.expired", "payment_link", razorpayLink),
		razorpayBody("payment.failed", "payment", razorpayPayment), `{"event":"x","contains":["a","a"],"payload":{"a":{"entity":{"id":1}}}}`, ``,
	} {
		f.Add([]byte(body), uint(i*13), byte(1)<<(i%8))
	}
	v := newVerifier(f)
	f.Fuzz(func(t *testing.T, body []byte, place uint, mask byte) {
		d := providertest.Signed(t, v, string(body))
		providertest.Parse(t, v, d)
		providertest.Flip(t, v, d, []string{"X-Razorpay-Signature"}, place, mask)
	})
}

// TestFailureCode: a shop's page shows the customer the next step by this code.
func TestFailureCode(t *testing.T) {
	t.Parallel()
	providertest.Reasons(t, func(reason string) (webhooks.FailureCode, string) { return razorpay.FailureCode(reason, "") }, map[string]string{
		"card_declined": "card_declined", "insufficient_funds": "insufficient_funds", "authentication_failed": "authentication_failed|incorrect_otp",
		"fraud_suspected": "payment_risk_check_failed", "canceled": "payment_cancelled", "expired": "payment_timed_out", "provider_rejected": "|payment_failed",
	})
}
