package engine_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/cloudpayments"
	"github.com/paylatch/paylatch/webhooks/stripe"
)

func TestRefundEvent(t *testing.T) {
	t.Parallel()
	t.Run("in_another_currency", refundEventInAnotherCurrency)
	t.Run("response_in_another_currency", refundEventResponseInAnotherCurrency)
	t.Run("of_another_amount_needs_review", refundEventOfAnotherAmountNeedsReview)
	t.Run("of_an_unknown_amount_needs_review", refundEventOfAnUnknownAmountNeedsReview)
	t.Run("without_a_currency", refundEventWithoutACurrency)
	t.Run("stripes_release_of_a_hold", refundEventStripesReleaseOfAHold)
	t.Run("failure_of_an_unknown_one", refundEventFailureOfAnUnknownOne)
	t.Run("success_after_the_failure", refundEventSuccessAfterTheFailure)
	t.Run("success_after_the_failure_in_the_dashboard", refundEventSuccessAfterTheFailureInTheDashboard)
}

// refundOf makes a refund of an amount of a payment.
func (r *env) refundOf(t *testing.T, id payment.AttemptID, key string, amount int64) payment.Refund {
	t.Helper()
	made, err := r.Refund(t.Context(), shop, request("refund", key, ""), commands.CreateRefund{AttemptID: id, Amount: &amount})
	require.NoError(t, err)
	return made.Refund
}

// refunds lists an attempt's refunds, oldest first: the user or the origin, the provider's name,
// the state.
func (r *env) refunds(t *testing.T, id payment.AttemptID) []string {
	t.Helper()
	return rows[string](t, r, `SELECT concat_ws(' ', COALESCE(user_id, origin), nullif(provider_refund_id, ''), status, amount, CASE WHEN EXISTS (
			SELECT FROM money_movements m WHERE m.attempt_id = r.attempt_id AND m.provider_id IN (r.provider_refund_id, r.refund_id::text)
			AND m.kind = CASE r.status WHEN 'failed' THEN 'refund' WHEN 'succeeded' THEN 'refund_reversal' END) THEN 'reversed' END)
		FROM refunds r WHERE attempt_id = $1 ORDER BY created_at, refund_id`, id.String())
}

func (r *env) parked(t *testing.T) int64 {
	t.Helper()
	return rows[int64](t, r, "SELECT count(*) FROM provider_events WHERE next_try_at IS NOT NULL")[0]
}

func backLost(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
	return gateway.RefundOutcome{}, errNoAnswer
}

func refundEventInAnotherCurrency(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: backLost}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	ours := r.refundOf(t, id, "refund-1", 500)
	dollars := func(refund string, minor int64) webhooks.Event {
		e := cents(webhooks.KindRefundSucceeded, id, refund, minor)
		e.Money.Currency = "USD"
		return e
	}
	named, total := dollars("re_2", 500), dollars("", 500)
	named.RefundReference, total.Cumulative = ours.ID.String(), true
	require.Equal(t, []fsm.Verdict{fsm.Conflict, fsm.Conflict, fsm.Conflict}, r.tell(t, dollars("re_1", price), named, total))

	require.Equal(t, []string{"u1 re_2 pending 500"}, r.refunds(t, id))
	require.Zero(t, r.attempt(t, id).Refunded)
	require.Equal(t, []string{"currency_mismatch", "currency_mismatch", "currency_mismatch"}, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

// A refund of another currency in the response to a call does not count either. It keeps its name. A later report of it,
// by a webhook or by a response, has the same effect.
func refundEventResponseInAnotherCurrency(t *testing.T) {
	t.Parallel()
	dollars := func() (gateway.RefundOutcome, error) {
		return gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: "re_1", Money: &payment.Money{Minor: 700, Currency: "USD"}}, nil
	}
	p := &refunding{refund: func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) { return dollars() }, lookup: dollars}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	ours := r.refundOf(t, id, "refund-1", 700)
	_, err := r.RecheckRefund(t.Context(), ours.ID, byTest)
	require.NoError(t, err)
	told := cents(webhooks.KindRefundSucceeded, id, "re_1", 700)
	told.Money.Currency = "USD"
	require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, told))

	require.Equal(t, []string{"u1 re_1 pending 700"}, r.refunds(t, id))
	require.Zero(t, r.attempt(t, id).Refunded)
	require.Equal(t, []string{"currency_mismatch"}, r.discrepancies(t, id))
	require.Equal(t, []string{"700 USD"}, rows[string](t, r, "SELECT amount || ' ' || currency FROM discrepancies WHERE text LIKE 'The provider reports a refund in another currency%'"))
	p.refund = nil
	require.EqualValues(t, price-700, r.refund(t, id, "refund-2").Money.Minor, "what is under way is not refunded twice")
	require.Empty(t, r.verify(t))

	p.lookup = func() (gateway.RefundOutcome, error) {
		return gateway.RefundOutcome{Event: fsm.EventFailed, ProviderRefundID: "re_1", Money: &payment.Money{Minor: 700, Currency: "USD"}}, nil
	}
	ours, err = r.RecheckRefund(t.Context(), ours.ID, byTest)
	require.NoError(t, err)
	require.Equal(t, fsm.RefundFailed, ours.State, "nothing moved, in any currency")
}

// The provider's first report counts, and a discrepancy is opened: whether the refund was pending by that report, or had
// succeeded.
func refundEventOfAnotherAmountNeedsReview(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: backLost}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	pending := r.refundOf(t, id, "refund-1", 500)
	p.refund = nil
	done := r.refundOf(t, id, "refund-2", 600)
	for i, ours := range []payment.Refund{pending, done} {
		less := cents(webhooks.KindRefundSucceeded, id, fmt.Sprintf("re_%d", i), 300)
		less.RefundReference = ours.ID.String()
		require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, less))
	}
	require.EqualValues(t, 900, r.attempt(t, id).Refunded)
	require.Equal(t, []string{"amount_mismatch", "amount_mismatch"}, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

// A dashboard refund that is reported without its amount, or its name, needs review. A failed refund moved nothing.
func refundEventOfAnUnknownAmountNeedsReview(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_success").ID
	blank := func(kind webhooks.Kind, refund string) webhooks.Event {
		e := event(kind, id.String())
		e.RefundID = refund
		return e
	}
	odd, whose := blank(webhooks.KindRefundSucceeded, "re_3"), cents(webhooks.KindRefundSucceeded, id, "", 300)
	odd.Amount, whose.RefundReference = "5.001", "a stranger's"
	require.Equal(t, []fsm.Verdict{fsm.Conflict, fsm.Conflict, fsm.Conflict, fsm.Conflict, payment.Ignored}, r.tell(t,
		blank(webhooks.KindRefundPending, "re_1"), blank(webhooks.KindRefundSucceeded, "re_1"), odd, whose,
		blank(webhooks.KindRefundFailed, "re_4")))
	require.Equal(t, []string{"needs_review", "needs_review", "needs_review"}, r.discrepancies(t, id), "one for each refund")
	require.Zero(t, r.attempt(t, id).Refunded)
	require.Empty(t, r.verify(t))
}

// A refund that is reported without a currency is in the payment's currency, with any configuration.
func refundEventWithoutACurrency(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_success").ID
	for i, params := range []map[string]string{nil, {"currency": "RUB"}} {
		v, err := cloudpayments.New(webhooks.Config{Secrets: []string{"s"}, Params: params})
		require.NoError(t, err)
		d := webhooks.Delivery{Method: http.MethodPost, Topic: "refund", ReceivedAt: time.Now(), Body: fmt.Appendf(nil,
			"TransactionId=18%d&PaymentTransactionId=17&Amount=5.00&InvoiceId=%s&OperationType=Refund", i, id)}
		require.NoError(t, v.Sign(&d))
		events, err := v.Verify(t.Context(), d)
		require.NoError(t, err)
		events[0].ProviderPaymentID = r.attempt(t, id).ProviderPaymentID
		require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, events...))
	}
	require.EqualValues(t, 1000, r.attempt(t, id).Refunded)
	require.Empty(t, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

// Stripe reports a hold that is released as a refund of all of it. Nothing was captured, and
// nothing needs review.
func refundEventStripesReleaseOfAHold(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	v, err := stripe.New(webhooks.Config{Secrets: []string{"whsec_x"}})
	require.NoError(t, err)
	id := r.paid(t, "A-1", "tok_never").ID
	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindAuthorized))
	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindFailed))
	d := webhooks.Delivery{ReceivedAt: time.Now(), Body: fmt.Appendf(nil, `{"id":"evt_1","type":"charge.refunded","api_version":"2024-06-20",
		"data":{"object":{"id":"ch_1","object":"charge","amount":1999,"amount_captured":0,"amount_refunded":1999,"captured":false,
		"currency":"eur","metadata":{"payment_attempt_id":%q},"payment_intent":"pi_1","refunded":true}}}`, id)}
	require.NoError(t, v.Sign(&d))
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, events...), "it names the payment")
	require.Zero(t, r.parked(t))
	require.Zero(t, r.attempt(t, id).Refunded)
}

// The failure of a refund of an unknown amount moves nothing, before the payment and after.
func refundEventFailureOfAnUnknownOne(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	for token, n := range map[string]int64{"tok_never": 0, "tok_success": price} {
		id := r.paid(t, payment.OrderID(token), token).ID
		failed := event(webhooks.KindRefundFailed, id.String())
		failed.RefundID = "re_1"
		require.Equal(t, []fsm.Verdict{payment.Ignored}, r.tell(t, failed))
		require.Equal(t, n, r.attempt(t, id).Held())
		require.Empty(t, r.discrepancies(t, id))
	}
	require.Zero(t, r.parked(t))
}

// A refund that had failed here and then succeeded is money that the customer has: it can't be refunded again, and the
// text of the discrepancy does not suggest a refund.
func refundEventSuccessAfterTheFailure(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: turnedAway}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	made := r.refund(t, id, "refund-1")
	require.Equal(t, fsm.RefundFailed, made.State)

	paid := cents(webhooks.KindRefundSucceeded, id, "re_1", price)
	paid.RefundReference = made.ID.String()
	again := cents(webhooks.KindRefundSucceeded, id, "re_1", price)
	require.Equal(t, []fsm.Verdict{fsm.Conflict, fsm.Conflict}, r.tell(t, paid, again))

	now, err := r.RefundStatus(t.Context(), shop, made.ID)
	require.NoError(t, err)
	require.Equal(t, fsm.RefundFailed, now.State, "what is final stays")
	require.EqualValues(t, price, r.attempt(t, id).Refunded)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	p.refund = nil
	_, err = r.Refund(t.Context(), shop, request("refund", "refund-2", ""), commands.CreateRefund{AttemptID: id})
	require.ErrorIs(t, err, payment.ErrNotRefundable)
	require.Len(t, r.ledger(t), 1)
	require.Empty(t, r.verify(t))
}

// The same for a refund that was made in the provider's dashboard. A repeated old failure changes nothing.
func refundEventSuccessAfterTheFailureInTheDashboard(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_success").ID
	require.Equal(t, []fsm.Verdict{fsm.Applied, fsm.Conflict, fsm.Repeat}, r.tell(t,
		cents(webhooks.KindRefundFailed, id, "re_1", 300), cents(webhooks.KindRefundSucceeded, id, "re_1", 300),
		cents(webhooks.KindRefundFailed, id, "re_1", 300)))
	require.EqualValues(t, 300, r.attempt(t, id).Refunded)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}
