package razorpay_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/razorpay"
)

func TestHowALinkStands(t *testing.T) {
	t.Parallel()
	for members, want := range map[string]gateway.Outcome{
		`"status":"created","short_url":"https://rzp.io/i/x","payments":null`: {Event: fsm.EventActionRequired, NextAction: payment.Redirect("https://rzp.io/i/x")},
		`"status":"partially_paid","amount_paid":5`:                           {Event: fsm.EventProcessing},
		`"status":"marinating"`:                                               {Event: fsm.EventProcessing},
		`"status":"paid","amount_paid":150000,"payments":[{"payment_id":"pay_1"}],"order_id":"order_1"`: {
			Event: fsm.EventSucceeded, Money: new(rupees(150000)), ProviderPaymentID: "pay_1", References: []string{"order_1"},
		},
		`"status":"cancelled"`: {Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "")},
		`"status":"expired"`:   {Event: fsm.EventFailed, Failure: payment.NewFailure("expired", "")},
	} {
		got, err := says(t, http.StatusOK, `{"id":"plink_1","amount":199900,"currency":"INR",`+members+`}`).Lookup(t.Context(), "plink_1")
		require.NoError(t, err, members)
		want.Container, want.References = "plink_1", append([]string{"plink_1"}, want.References...)
		require.Equal(t, want, got, members)
	}
}

// A failed try does not show on the link, which stays open. The payments of its order show it, and the last one decides.
func TestADeclinedTryLeavesTheLinkOpen(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, f)
	made := charged(t, c, charge("redirect"))
	id, orders := made.Container, []string{made.Container, "order_" + made.Container}
	open := gateway.Outcome{Event: fsm.EventActionRequired, Container: id, NextAction: made.NextAction, References: orders}
	declined := gateway.Outcome{
		Event: fsm.EventSoftFailed, PageOpen: true, Container: id, References: orders,
		Failure: payment.NewFailure("insufficient_funds", "insufficient_funds"),
	}
	for _, step := range []struct {
		status, payment string
		want            gateway.Outcome
	}{{"failed", "pay_Try0", declined}, {"created", "", open}, {"failed", "pay_Try2", declined}} {
		f.try(id, step.status)
		now, err := c.Lookup(t.Context(), id)
		require.NoError(t, err)
		step.want.ProviderPaymentID = step.payment
		require.Equal(t, step.want, now, step.status)
	}
	over, err := c.Cancel(t.Context(), gateway.Cancel{Container: id, Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, fsm.EventFailed, over.Event)
	require.False(t, over.PageOpen)
}

func TestAnAmountThatIsNoneIsUnknown(t *testing.T) {
	t.Parallel()
	for _, members := range []string{`"currency":"INR"`, `"amount_paid":5`, `"amount_paid":-5,"currency":"INR"`, `"amount_paid":5.5,"currency":"INR"`} {
		_, err := says(t, http.StatusOK, `{"id":"plink_1","status":"paid",`+members+`}`).Lookup(t.Context(), "plink_1")
		require.Error(t, err, members)
	}
	_, err := says(t, http.StatusOK, `{"id":"pay_1","entity":"payment","status":"captured"}`).Lookup(t.Context(), "pay_1")
	require.Error(t, err)
	_, err = says(t, http.StatusOK, `{"id":"rfnd_1","entity":"refund","status":"processed"}`).LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "rfnd_1"})
	require.Error(t, err)
}

// A webhook and a lookup of a link must agree.
func TestLinksAgreeWithTheWebhooks(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"paid", "cancelled", "expired"} {
		entity := `{"id":"plink_1","status":"` + status + `","reference_id":"att_1","order_id":"order_1","amount":199900,"amount_paid":199900,"currency":"INR",
			"payments":[{"payment_id":"pay_1"}]}`
		told := webhook(t, "payment_link."+status, "payment_link", entity)
		found, err := says(t, http.StatusOK, entity).Lookup(t.Context(), "plink_1")
		require.NoError(t, err)
		require.EqualValues(t, told.Kind, found.Event, "kinds and news have the same words")
		require.Subset(t, told.References, []string{"att_1", "order_1", found.Container})
		require.Equal(t, told.ProviderPaymentID, found.ProviderPaymentID)
		require.Equal(t, told.Container, found.Container)
		if found.Failure != nil {
			require.Equal(t, payment.NewFailure(told.FailureCode, told.ProviderCode), found.Failure)
		} else {
			require.Equal(t, payment.Money{Minor: told.Money.Minor, Currency: payment.Currency(told.Money.Currency)}, *found.Money)
		}
	}
}

func TestPaymentsAgreeWithTheWebhooks(t *testing.T) {
	t.Parallel()
	for event, members := range map[string]string{
		"payment.authorized":         `"status":"authorized"`,
		"payment.captured":           `"status":"captured"`,
		"payment.failed":             `"status":"failed","error_code":"BAD_REQUEST_ERROR","error_reason":"payment_cancelled"`,
		"payment.failed, no money":   `"status":"failed","error_code":"BAD_REQUEST_ERROR","error_reason":"insufficient_funds"`,
		"payment.failed, password":   `"status":"failed","error_code":"BAD_REQUEST_ERROR","error_reason":"incorrect_otp"`,
		"payment.failed, card":       `"status":"failed","error_code":"BAD_REQUEST_ERROR","error_reason":"card_declined"`,
		"payment.failed, unproven":   `"status":"failed","error_code":"BAD_REQUEST_ERROR","error_reason":"authentication_failed"`,
		"payment.failed, late":       `"status":"failed","error_code":"BAD_REQUEST_ERROR","error_reason":"payment_timed_out"`,
		"payment.failed, fraud":      `"status":"failed","error_code":"BAD_REQUEST_ERROR","error_reason":"payment_risk_check_failed"`,
		"payment.failed, for itself": `"status":"failed","error_code":"GATEWAY_ERROR","error_reason":"payment_failed"`,
		"payment.failed, no reason":  `"status":"failed","error_code":"GATEWAY_ERROR","error_reason":null`,
	} {
		t.Run(event, func(t *testing.T) {
			t.Parallel()
			entity := `{"id":"pay_1","entity":"payment","order_id":"order_1","amount":199900,"currency":"INR","notes":[],` + members + `}`
			told := webhook(t, firstWord(event), "payment", entity)
			found, err := says(t, http.StatusOK, entity).Lookup(t.Context(), "pay_1")
			require.NoError(t, err)
			require.EqualValues(t, told.Kind, found.Event)
			require.Equal(t, []any{told.PageOpen, told.Container}, []any{found.PageOpen, found.Container})
			require.Equal(t, told.ProviderPaymentID, found.ProviderPaymentID)
			require.Equal(t, []string{"order_1"}, found.References)
			require.Subset(t, told.References, found.References)
			if told.FailureCode != "" {
				require.Equal(t, payment.NewFailure(told.FailureCode, told.ProviderCode), found.Failure)
			}
		})
	}
}

func TestRefundsAgreeWithTheWebhooks(t *testing.T) {
	t.Parallel()
	news := map[webhooks.Kind]fsm.Event{
		webhooks.KindRefundPending: fsm.EventProcessing, webhooks.KindRefundSucceeded: fsm.EventSucceeded, webhooks.KindRefundFailed: fsm.EventFailed,
	}
	for event, status := range map[string]string{"refund.created": "pending", "refund.processed": "processed", "refund.failed": "failed"} {
		entity := `{"id":"rfnd_1","entity":"refund","payment_id":"pay_1","receipt":"r1","amount":500,"currency":"INR","notes":[],"status":"` + status + `"}`
		told := webhook(t, event, "refund", entity)
		found, err := says(t, http.StatusOK, entity).LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "rfnd_1"})
		require.NoError(t, err)
		require.Equal(t, news[told.Kind], found.Event, status)
		require.Equal(t, told.RefundID, found.ProviderRefundID)
		require.Equal(t, "r1", told.RefundReference)
		require.Equal(t, payment.Money{Minor: told.Money.Minor, Currency: payment.Currency(told.Money.Currency)}, *found.Money)
	}
}

func firstWord(event string) string {
	for i, r := range event {
		if r == ',' {
			return event[:i]
		}
	}
	return event
}

// webhook returns the event that the verifier reads from a genuine delivery.
func webhook(t *testing.T, event, name, entity string) webhooks.Event {
	t.Helper()
	v, err := hooks.New(webhooks.Config{Secrets: []string{"secret"}})
	require.NoError(t, err)
	d := webhooks.Delivery{
		Method: http.MethodPost, Header: http.Header{}, ReceivedAt: time.Now(),
		Body: []byte(`{"entity":"event","event":"` + event + `","contains":["` + name + `"],"created_at":1591097057,
			"payload":{"` + name + `":{"entity":` + entity + `}}}`),
	}
	require.NoError(t, v.Sign(&d))
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
	require.Len(t, events, 1)
	return events[0]
}

// A payment that has only begun, or has an unknown status, is under way.
func TestAPaymentOfAnotherStatusIsUnderWay(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"created", "marinating"} {
		found, err := says(t, http.StatusOK, `{"id":"pay_1","entity":"payment","amount":199900,"currency":"INR","status":"`+status+`"}`).
			Lookup(t.Context(), "pay_1")
		require.NoError(t, err)
		require.Equal(t, gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: "pay_1"}, found, status)
	}
}

// Razorpay itself refunds a payment that it never captured, such as a second payment of the same link. Such a payment
// was not paid.
func TestAPaymentThatWasGivenBackUntakenIsNone(t *testing.T) {
	t.Parallel()
	for captured, want := range map[string]fsm.Event{"true": fsm.EventSucceeded, "false": fsm.EventSoftFailed, "null": fsm.EventSucceeded} {
		entity := `{"id":"pay_1","entity":"payment","amount":199900,"currency":"INR","status":"refunded","captured":` + captured + `}`
		found, err := says(t, http.StatusOK, entity).Lookup(t.Context(), "pay_1")
		require.NoError(t, err)
		require.Equal(t, want, found.Event, captured)
	}
}
