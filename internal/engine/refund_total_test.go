package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestRefundTotal(t *testing.T) {
	t.Parallel()
	t.Run("stays_above_the_single_ones", refundTotalStaysAboveTheSingleOnes)
	t.Run("counts_no_failed_one", refundTotalCountsNoFailedOne)
	t.Run("counts_what_no_single_one_reports", refundTotalCountsWhatNoSingleOneReports)
	t.Run("beside_later_ones", refundTotalBesideLaterOnes)
	t.Run("beside_one_never_sent", refundTotalBesideOneNeverSent)
	t.Run("before_the_payment", refundTotalBeforeThePayment)
	t.Run("more_than_captured", refundTotalMoreThanCaptured)
	t.Run("more_than_a_captured_part", refundTotalMoreThanACapturedPart)
	t.Run("without_a_payment_needs_review", refundTotalWithoutAPaymentNeedsReview)
}

// cents is a refund's event about an amount of a payment.
func cents(kind webhooks.Kind, of payment.AttemptID, refund string, minor int64) webhooks.Event {
	e := event(kind, of.String())
	e.RefundID, e.Money = refund, &webhooks.Money{Minor: minor, Currency: "EUR"}
	return e
}

// The total that the provider reports as refunded holds until it reports more, or until a refund
// is undone: the single refunds here may be less.
func refundTotalStaysAboveTheSingleOnes(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_success").ID
	total := cents(webhooks.KindRefundSucceeded, id, "", 1000)
	total.Cumulative = true
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, total))

	r.tell(t, cents(webhooks.KindRefundSucceeded, id, "re_1", 300))
	require.EqualValues(t, 1000, r.attempt(t, id).Refunded)
	r.tell(t, cents(webhooks.KindRefundSucceeded, id, "re_2", 900))
	require.EqualValues(t, 1200, r.attempt(t, id).Refunded, "single refunds may be more")
	r.tell(t, cents(webhooks.KindRefundFailed, id, "re_1", 300))
	require.EqualValues(t, 900, r.attempt(t, id).Refunded)
	require.Empty(t, r.verify(t))
}

// A refund that has not moved money may be in the provider's total, with its own reports in between, before or after. In
// any order, and reported twice, only the customer's refunded money counts.
func refundTotalCountsNoFailedOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first  webhooks.Kind
		opened []string
	}{"pending": {webhooks.KindRefundPending, nil}, "paid back": {webhooks.KindRefundSucceeded, []string{"refund_reversed"}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t, setup{silent: true})
			for i, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {2, 0, 1}} {
				id := r.paid(t, payment.OrderID(fmt.Sprintf("A-%d", i)), "tok_success").ID
				total := cents(webhooks.KindRefundSucceeded, id, "", price)
				total.Cumulative = true
				refund := fmt.Sprintf("re_%d", i)
				told := []webhooks.Event{cents(c.first, id, refund, price), cents(webhooks.KindRefundFailed, id, refund, price), total}
				for _, at := range order {
					r.tell(t, told[at])
				}
				again := total
				again.ID += " again"
				require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, again), order)
				require.Zero(t, r.attempt(t, id).Refunded, order)
				require.ElementsMatch(t, c.opened, r.discrepancies(t, id), order)
				require.EqualValues(t, price, r.refund(t, id, fmt.Sprintf("refund-%d", i)).Money.Minor)
			}
			require.Empty(t, r.verify(t))
		})
	}
}

// A total may be more than the single refunds here: the rest counts, and each refund by its own reports. A refund that
// is made after the provider reported the others is not in that total.
func refundTotalCountsWhatNoSingleOneReports(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		told  int64
		later bool
	}{"before the total": {800, false}, "after the total": {300, true}} {
		for end, counted := range map[webhooks.Kind]int64{webhooks.KindRefundSucceeded: 800, webhooks.KindRefundFailed: 300} {
			t.Run(name+" "+string(end), func(t *testing.T) {
				t.Parallel()
				p := &refunding{refund: func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
					return gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: "re_1"}, nil
				}}
				r := newEnv(t, setup{silent: true, provider: p.on})
				id := r.paid(t, "A-1", "tok_success").ID
				total := cents(webhooks.KindRefundSucceeded, id, "", c.told)
				total.Cumulative = true
				if !c.later {
					r.refundOf(t, id, "refund-1", 500)
				}
				require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, total))
				if c.later {
					r.refundOf(t, id, "refund-1", 500)
				}
				require.EqualValues(t, 300, r.attempt(t, id).Refunded)
				r.tell(t, cents(end, id, "re_1", 500))
				require.Equal(t, counted, r.attempt(t, id).Refunded)
				r.tell(t, cents(webhooks.KindRefundSucceeded, id, "re_2", 300))
				require.Equal(t, counted, r.attempt(t, id).Refunded)
				require.Empty(t, r.verify(t))
			})
		}
	}
}

// Nor can it contain a refund that is made after it and succeeds at once.
func refundTotalBesideLaterOnes(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_success").ID
	total := func(minor int64) webhooks.Event {
		e := cents(webhooks.KindRefundSucceeded, id, "", minor)
		e.Cumulative = true
		return e
	}
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, total(300)))
	require.Equal(t, fsm.RefundSucceeded, r.refundOf(t, id, "refund-1", 500).State)
	require.EqualValues(t, 800, r.attempt(t, id).Refunded)
	require.Equal(t, []fsm.Verdict{fsm.Repeat, fsm.Applied}, r.tell(t, total(800), cents(webhooks.KindRefundSucceeded, id, "re_2", 300)))
	require.EqualValues(t, 800, r.attempt(t, id).Refunded)
	require.Empty(t, r.verify(t))
}

func autoRefunds(o *options) {
	account := o.Accounts["sandbox"]
	account.LateMoney = gateway.LateMoneyRefunded
	o.Accounts["sandbox"] = account
}

// A refund may be reported before its payment, one by one or in all.
func refundTotalBeforeThePayment(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	for order, refund := range map[payment.OrderID]string{"A-1": "re_1", "A-2": ""} {
		id := r.paid(t, order, "tok_never").ID
		told := cents(webhooks.KindRefundSucceeded, id, refund, 700)
		told.Cumulative = refund == ""
		require.Equal(t, []fsm.Verdict{payment.VerdictDeferred}, r.tell(t, told))
		require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindSucceeded))
		r.exec(t, "UPDATE provider_events SET next_try_at = now() WHERE next_try_at IS NOT NULL")
		_, err := r.RetryParked(t.Context(), 10)
		require.NoError(t, err)
		require.EqualValues(t, 700, r.attempt(t, id).Refunded)
		require.EqualValues(t, price-700, r.attempt(t, id).Held())
		require.Empty(t, r.discrepancies(t, id))
		require.Equal(t, payment.VerdictDuplicate, r.tell(t, told)[0])
	}
	require.Empty(t, r.verify(t))
}

// The shown refunds never exceed the captured amount, but they are not forgotten. Once a larger capture is reported they
// count again, in any order of the three reports, and at any distance.
func refundTotalMoreThanCaptured(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	for n, order := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		for together, name := range map[bool]string{false: "alone", true: "together"} {
			of := payment.OrderID(fmt.Sprintf("%d-%s", n, name))
			id := r.paid(t, of, "tok_never").ID
			more := event(webhooks.KindSucceeded, id.String())
			more.Money.Minor = 5000
			all := []webhooks.Event{event(webhooks.KindSucceeded, id.String()), cents(webhooks.KindRefundSucceeded, id, "re_"+string(of), 3000), more}
			told := []webhooks.Event{all[order[0]], all[order[1]], all[order[2]]}
			if together {
				r.tell(t, told...)
			} else {
				for _, e := range told {
					r.tell(t, e)
				}
			}
			r.retry(t, true)
			a := r.attempt(t, id)
			require.Equal(t, succeeded, standingOf(a.Attempt))
			require.Equal(t, []int64{5000, 3000}, []int64{a.Captured, a.Refunded}, "%v %s", order, name)
		}
	}
	require.Empty(t, r.verify(t))
}

// The same of a capture by hand, and of a refund that is still more than was captured.
func refundTotalMoreThanACapturedPart(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.held(t, "A-1").ID
	told := []webhooks.Event{{}, cents(webhooks.KindRefundSucceeded, id, "re_1", 3000)}
	for _, captured := range []int64{700, price, 2500, 5000} {
		told[0] = event(webhooks.KindSucceeded, id.String())
		told[0].Money.Minor = captured
		r.tell(t, told...)
		require.EqualValues(t, 3000, r.attempt(t, id).Refunded, "what the provider reports")
		require.Equal(t, max(0, captured-3000), r.attempt(t, id).Held())
		told = told[:1]
	}
	require.Equal(t, []string{"amount_mismatch", "amount_mismatch", "amount_mismatch", "refund_exceeds"}, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

// One without any report of its payment needs review.
func refundTotalWithoutAPaymentNeedsReview(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_never").ID
	r.tell(t, cents(webhooks.KindRefundSucceeded, id, "re_1", 700))
	for range 20 {
		r.exec(t, "UPDATE provider_events SET next_try_at = now() WHERE next_try_at IS NOT NULL")
		_, err := r.RetryParked(t.Context(), 10)
		require.NoError(t, err)
	}
	require.ElementsMatch(t, []string{"needs_review", "refund_exceeds"}, rows[string](t, r, "SELECT kind FROM discrepancies"))
	require.EqualValues(t, 700, r.attempt(t, id).Refunded, "it is recorded all the same")
}

// A refund that never reached the provider is not in the total that the provider reports.
func refundTotalBesideOneNeverSent(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: turnedAway}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	require.Equal(t, fsm.RefundFailed, r.refund(t, id, "refund-1").State)
	total := cents(webhooks.KindRefundSucceeded, id, "", 500)
	total.Cumulative = true
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, total))
	require.EqualValues(t, 500, r.attempt(t, id).Refunded)
}
