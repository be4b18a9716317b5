package payment_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// cents is a refund's event about an amount of a payment.
func cents(kind webhooks.Kind, of payment.AttemptID, refund string, minor int64) webhooks.Event {
	e := event(kind, of.String())
	e.RefundID, e.Money = refund, &webhooks.Money{Minor: minor, Currency: "EUR"}
	return e
}

// A refund that had failed here and was paid all the same is money that the
// customer has: it is no longer there to be refunded, and whoever looks is not told
// to refund it again.
func TestARefundThatWasPaidAfterItHadFailedIsNotRefundedAgain(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: turnedAway}
	r := newRig(t, setup{silent: true, provider: p.on})
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
	_, err = r.Refund(t.Context(), shop, request("refund", "refund-2", ""), payment.CreateRefund{AttemptID: id})
	require.ErrorIs(t, err, payment.ErrNotRefundable)
	require.Len(t, r.ledger(t), 1)
	require.Empty(t, r.verify(t))
}

// The same of one that was made in the provider's dashboard; and an old failure that
// is told again changes nothing.
func TestAWebhookContradictsAFailedRefund(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_success").ID
	require.Equal(t, []fsm.Verdict{fsm.Applied, fsm.Conflict, fsm.Repeat}, r.tell(t,
		cents(webhooks.KindRefundFailed, id, "re_1", 300), cents(webhooks.KindRefundSucceeded, id, "re_1", 300),
		cents(webhooks.KindRefundFailed, id, "re_1", 300)))
	require.EqualValues(t, 300, r.attempt(t, id).Refunded)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

// What the provider says was paid back in all holds until it says more, or until a
// refund is undone: what is known of single refunds may be less.
func TestWhatWasPaidBackInAllIsNotForgotten(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
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

// A refund that has not paid back anything may be in what the provider tells of in
// all, and its own news in between, before or after. In any order, and told twice,
// only what the customer has got counts.
func TestATotalCountsNoRefundThatFailed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first  webhooks.Kind
		opened []string
	}{"pending": {webhooks.KindRefundPending, nil}, "paid back": {webhooks.KindRefundSucceeded, []string{"refund_reversed"}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, setup{silent: true})
			for i, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {2, 0, 1}} {
				id := r.paid(t, payment.OrderID(fmt.Sprintf("A-%d", i)), "tok_success").ID
				total := cents(webhooks.KindRefundSucceeded, id, "", price)
				total.Cumulative = true
				told := []webhooks.Event{cents(c.first, id, "re_1", price), cents(webhooks.KindRefundFailed, id, "re_1", price), total}
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

// What is told of in all may be more than the refunds that are known: the rest
// counts, and each refund by its own news. One that is asked for after the provider
// told of the others is not in what it told.
func TestATotalCountsWhatNoRefundTellsOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		told  int64
		later bool
	}{"before the total": {800, false}, "after the total": {300, true}} {
		for end, counted := range map[webhooks.Kind]int64{webhooks.KindRefundSucceeded: 800, webhooks.KindRefundFailed: 300} {
			t.Run(name+" "+string(end), func(t *testing.T) {
				t.Parallel()
				p := &refunding{refund: func(func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) {
					return payment.RefundOutcome{News: fsm.NewsProcessing, ProviderRefundID: "re_1"}, nil
				}}
				r := newRig(t, setup{silent: true, provider: p.on})
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

func autoRefunds(o *payment.Options) {
	account := o.Accounts["sandbox"]
	account.AutoRefund = true
	o.Accounts["sandbox"] = account
}

// A policy's refund may be sent long after it was put on disk. That the provider
// does not know it yet proves as little then as of one that is sent at once.
func TestAPolicysRefundThatIsSentLateIsNotGivenUpAtOnce(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: func(func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) {
		return payment.RefundOutcome{}, errNoAnswer
	}, lookup: func() (payment.RefundOutcome, error) { return payment.RefundOutcome{}, payment.ErrNoSuchPayment }}
	r := newRig(t, setup{silent: true, provider: p.on, change: autoRefunds})
	id := r.paid(t, "A-1", "tok_decline").ID
	require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
	due, err := r.DueRefunds(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, due, 1)
	older := func(by string) {
		r.exec(t, "UPDATE refunds SET created_at = created_at - $2::interval, updated_at = updated_at - $2::interval WHERE refund_id = $1", due[0].String(), by)
	}
	older("2 hours")
	for range 2 {
		now, err := r.RecheckRefund(t.Context(), due[0], byTest)
		require.NoError(t, err)
		require.Equal(t, fsm.RefundPending, now.State)
	}
	older("20 minutes")
	now, err := r.RecheckRefund(t.Context(), due[0], byTest)
	require.NoError(t, err)
	require.Equal(t, fsm.RefundFailed, now.State)
	require.Equal(t, "not_started", now.Failure.Code)
}

// A policy's refund is first sent by the reconciler. Of one that is held back nothing is
// decided; one that the provider is never sent would be held back for ever.
func TestAPolicysRefundThatIsNeverSentIsOver(t *testing.T) {
	t.Parallel()
	answer := payment.ErrNotSent
	p := &refunding{refund: func(func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) {
		return payment.RefundOutcome{}, answer
	}}
	for err, want := range map[error]fsm.RefundState{payment.ErrNotSent: fsm.RefundPending, payment.ErrUnfit: fsm.RefundFailed} {
		answer = err
		r := newRig(t, setup{silent: true, provider: p.on, change: autoRefunds})
		id := r.paid(t, "A-1", "tok_decline").ID
		require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
		due, err := r.DueRefunds(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, due, 1)
		now, err := r.RecheckRefund(t.Context(), due[0], byTest)
		require.NoError(t, err)
		require.Equal(t, want, now.State)
	}
}

// Nor is one that is held back ever sent, where only its first runner may: it is over,
// and its money is free to be refunded by hand.
func TestAPolicysRefundThatIsHeldBackForGoodIsOver(t *testing.T) {
	t.Parallel()
	held := fmt.Errorf("%w: %w", payment.ErrNotSent, payment.ErrHeldBack)
	for name, c := range map[string]struct {
		keys time.Duration
		age  time.Duration
		want fsm.RefundState
	}{
		"keyless": {0, 0, fsm.RefundFailed}, "young": {time.Hour, 0, fsm.RefundPending}, "old": {time.Hour, 10 * time.Minute, fsm.RefundFailed},
	} {
		answer := held
		p := &refunding{refund: func(send func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) {
			if answer != nil {
				return payment.RefundOutcome{}, answer
			}
			return send()
		}}
		r := newRig(t, setup{silent: true, change: autoRefunds, provider: func(of payment.Provider) payment.Provider {
			return (&tapped{can: func(can *payment.Capabilities) { can.KeyLife = c.keys }}).on(p.on(of))
		}})
		id := r.paid(t, "A-1", "tok_decline").ID
		require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
		r.exec(t, "UPDATE refunds SET created_at = created_at - $1::interval", c.age)
		due, err := r.DueRefunds(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, due, 1)
		now, err := r.RecheckRefund(t.Context(), due[0], byTest)
		require.NoError(t, err)
		require.Equal(t, c.want, now.State, name)
		if answer = nil; c.want == fsm.RefundFailed {
			require.Equal(t, "not_started", now.Failure.Code)
			require.EqualValues(t, price, r.refundOf(t, id, "by-hand-key", price).Money.Minor)
		}
	}
}

// asking keeps what a provider was last asked about.
type asking struct {
	*refunding

	about payment.RefundRef
}

func (p *asking) LookupRefund(ctx context.Context, r payment.RefundRef) (payment.RefundOutcome, error) {
	p.about = r
	return p.refunding.LookupRefund(ctx, r)
}

// Some providers know a refund that was cancelled no more: to one that they don't know
// an adapter must be told when it was asked for, not when somebody decided to.
func TestAProviderIsToldSinceWhenARefundIsUnderWay(t *testing.T) {
	t.Parallel()
	pending := func() (payment.RefundOutcome, error) {
		return payment.RefundOutcome{News: fsm.NewsProcessing, ProviderRefundID: "re_1"}, nil
	}
	p := &asking{refunding: &refunding{lookup: pending, refund: func(func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) { return pending() }}}
	r := newRig(t, setup{silent: true, provider: func(of payment.Provider) payment.Provider { p.on(of); return p }, change: func(o *payment.Options) {
		account := o.Accounts["sandbox"]
		account.AutoRefund = true
		o.Accounts["sandbox"] = account
	}})
	id := r.paid(t, "A-1", "tok_decline").ID
	require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
	due, err := r.DueRefunds(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, due, 1)
	for _, c := range []struct {
		older time.Duration
		want  time.Duration
	}{{2 * time.Hour, 0}, {0, time.Minute}, {20 * time.Minute, 21 * time.Minute}} {
		r.exec(t, "UPDATE refunds SET created_at = created_at - $1::interval, updated_at = updated_at - $1::interval", c.older)
		now, err := r.RecheckRefund(t.Context(), due[0], byTest)
		require.NoError(t, err)
		require.Equal(t, fsm.RefundPending, now.State)
		require.LessOrEqual(t, p.about.Age, c.want)
	}
	require.GreaterOrEqual(t, p.about.Age, 20*time.Minute)
}

// A refund may be told of before the payment that it is of, one by one or in all.
func TestARefundThatIsToldOfFirstCounts(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	for order, refund := range map[payment.OrderID]string{"A-1": "re_1", "A-2": ""} {
		id := r.paid(t, order, "tok_never").ID
		told := cents(webhooks.KindRefundSucceeded, id, refund, 700)
		told.Cumulative = refund == ""
		require.Equal(t, []fsm.Verdict{payment.Deferred}, r.tell(t, told))
		require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindSucceeded))
		r.exec(t, "UPDATE provider_events SET next_try_at = now() WHERE next_try_at IS NOT NULL")
		_, err := r.RetryParked(t.Context(), 10)
		require.NoError(t, err)
		require.EqualValues(t, 700, r.attempt(t, id).Refunded)
		require.EqualValues(t, price-700, r.attempt(t, id).Held())
		require.Empty(t, r.discrepancies(t, id))
		require.Equal(t, payment.Duplicate, r.tell(t, told)[0])
	}
	require.Empty(t, r.verify(t))
}

// What was paid back is never shown as more than was taken, and is not forgotten over
// that: once more turns out to be taken it is counted again, in whatever order and
// however close together the three are told.
func TestARefundOfMoreThanWasTakenCountsOnceMoreIsTaken(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	for n, order := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		for together, name := range map[bool]string{false: "alone", true: "together"} {
			id := r.paid(t, payment.OrderID(fmt.Sprintf("%d-%s", n, name)), "tok_never").ID
			more := event(webhooks.KindSucceeded, id.String())
			more.Money.Minor = 5000
			all := []webhooks.Event{event(webhooks.KindSucceeded, id.String()), cents(webhooks.KindRefundSucceeded, id, "re_1", 3000), more}
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
			require.Equal(t, succeeded, standingOf(a))
			require.Equal(t, []int64{5000, 3000}, []int64{a.Captured, a.Refunded}, "%v %s", order, name)
		}
	}
	require.Empty(t, r.verify(t))
}

// The same of a capture by hand, and of a refund that is still more than was taken.
func TestARefundOfMoreThanAPartCountsAsFarAsMoneyWasTaken(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.held(t, "A-1").ID
	told := []webhooks.Event{{}, cents(webhooks.KindRefundSucceeded, id, "re_1", 3000)}
	for _, c := range []struct{ captured, refunded int64 }{{700, 700}, {price, price}, {2500, 2500}, {5000, 3000}} {
		told[0] = event(webhooks.KindSucceeded, id.String())
		told[0].Money.Minor = c.captured
		r.tell(t, told...)
		require.Equal(t, c.refunded, r.attempt(t, id).Refunded)
		told = told[:1]
	}
	require.Equal(t, []string{"amount_mismatch", "amount_mismatch", "amount_mismatch", "refund_exceeds"}, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

// One whose payment is never told of asks a person.
func TestARefundOfNothingAsksAPerson(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_never").ID
	r.tell(t, cents(webhooks.KindRefundSucceeded, id, "re_1", 700))
	for range 20 {
		r.exec(t, "UPDATE provider_events SET next_try_at = now()")
		_, err := r.RetryParked(t.Context(), 10)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"needs_review"}, rows[string](t, r, "SELECT kind FROM discrepancies"))
	require.Zero(t, r.attempt(t, id).Refunded)
}
