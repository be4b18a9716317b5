package payment_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// hint is an event of which only what the provider says when asked counts.
func hint(kind webhooks.Kind, name string) webhooks.Event {
	e := event(kind, name)
	e.NeedsFetch, e.ProviderPaymentID, e.SecretIndex = true, name, -1
	return e
}

// retry tries what is due, or, with all, whatever is parked.
func (r *rig) retry(t *testing.T, all bool) {
	t.Helper()
	if all {
		r.exec(t, "UPDATE provider_events SET next_try_at = now() WHERE next_try_at IS NOT NULL")
	}
	_, err := r.RetryParked(t.Context(), 10)
	require.NoError(t, err)
}

// What must be fetched and came before anybody here knew the payment's name is
// fetched when the name comes, whatever it said itself.
func TestAHintThatWaitedForItsReferenceIsFetched(t *testing.T) {
	t.Parallel()
	for _, kind := range []webhooks.Kind{webhooks.KindSucceeded, webhooks.KindFailed, webhooks.KindNotice} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			var r *rig
			look := &answering{}
			p := &tapped{charge: func(_ context.Context, _ payment.Charge, send func() (payment.Outcome, error)) (payment.Outcome, error) {
				out, err := send()
				require.Equal(t, []fsm.Verdict{payment.Deferred}, r.tell(t, hint(kind, out.ProviderPaymentID)))
				// It has been tried for long, in vain.
				r.exec(t, "UPDATE provider_events SET tries = 9, received_at = received_at - interval '12 minutes', next_try_at = now() + interval '8 minutes'")
				return out, err
			}}
			r = newRig(t, setup{silent: true, provider: func(of payment.Provider) payment.Provider { return p.on(look.on(of)) }})
			paid := r.paid(t, "A-1", "tok_never")
			require.Equal(t, requested, standingOf(paid.Attempt))
			require.Zero(t, look.lookups.Load())
			require.Equal(t, []string{"deferred"}, rows[string](t, r, "SELECT verdict FROM provider_events WHERE next_try_at <= now()"))

			r.retry(t, false)
			require.EqualValues(t, 1, look.lookups.Load())
			require.Equal(t, requested, standingOf(r.attempt(t, paid.ID)))
			require.Equal(t, []string{"repeat"}, r.verdicts(t, paid.ID))
			require.Zero(t, rows[int](t, r, "SELECT count(*) FROM provider_events WHERE next_try_at IS NOT NULL")[0])
		})
	}
}

// The same where a webhook brings the name; and an answer that can't be had leaves
// the hint where it is.
func TestAHintIsNotBelievedWhenAWebhookBringsItsReference(t *testing.T) {
	t.Parallel()
	look := &answering{lookup: func() (payment.Outcome, error) { return payment.Outcome{}, errNoAnswer }}
	r := newRig(t, setup{silent: true, provider: look.on})
	id := r.paid(t, "A-1", "tok_never").ID
	require.Equal(t, []fsm.Verdict{payment.Deferred}, r.tell(t, hint(webhooks.KindSucceeded, "ch_later")))
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, event(webhooks.KindAuthorized, id.String(), "ch_later")))
	held := standing{"pending", "authorized", ""}
	r.retry(t, false)
	require.Equal(t, held, standingOf(r.attempt(t, id)))
	require.Equal(t, []string{"deferred"}, rows[string](t, r, "SELECT verdict FROM provider_events WHERE next_try_at > now()"))

	look.lookup = says(fsm.NewsFailed)
	r.asOld(t, time.Hour)
	require.Equal(t, standing{"failed", "final", "provider_rejected"}, standingOf(r.attempt(t, id)))
	require.Empty(t, r.verify(t))
}

// Whoever sends a hint may name any attempt in it. Whose payment it is the provider
// says, if anybody.
func TestAHintDoesNotGiveAPaymentToAnotherAttempt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signed int
		end    standing
	}{"unsigned": {-1, requested}, "signed": {0, succeeded}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			look := &answering{lookup: says(fsm.NewsSucceeded)}
			r := newRig(t, setup{silent: true, provider: look.on})
			victim := r.paid(t, "A-1", "tok_never")
			e := hint(webhooks.KindSucceeded, victim.ID.String())
			e.ProviderPaymentID, e.SecretIndex = "ch_of_somebody", c.signed
			e.References = append(e.References, e.ProviderPaymentID)
			require.Equal(t, []fsm.Verdict{payment.Deferred}, r.tell(t, e))
			r.retry(t, true)
			require.EqualValues(t, 1, look.lookups.Load())
			require.Equal(t, c.end, standingOf(r.attempt(t, victim.ID)))
		})
	}
}

// An attempt that is locked for a moment is no reason to wait for the next try,
// which may be an hour away.
func TestALockedAttemptCostsAnEventNoTry(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	paid := r.paid(t, "A-1", "tok_never")
	thin := hint(webhooks.KindProcessing, paid.ProviderPaymentID)
	plain := event(webhooks.KindProcessing, "ch_2")
	require.Equal(t, []fsm.Verdict{payment.Deferred, payment.Unmatched}, r.tell(t, thin, plain))
	r.exec(t, `INSERT INTO attempt_references (account, reference, order_id, attempt_id) VALUES ('sandbox', 'ch_2', 'A-1', $1)`, paid.ID.String())
	r.exec(t, "UPDATE provider_events SET tries = 10")
	unlock := r.lock(t, paid.ID)
	r.retry(t, true)
	unlock()
	require.Equal(t, []int{10, 10}, rows[int](t, r, "SELECT tries FROM provider_events WHERE next_try_at < now() + interval '2 s'"))
	r.retry(t, true)
	require.Equal(t, []string{"repeat", "repeat"}, r.verdicts(t, paid.ID))
}

// Anybody can send a notice that nobody signs. What its provider does not know after
// a few tries is nothing; an answer that can't be had, and a signed one, say less.
func TestAnUnsignedHintOfAPaymentThatNobodyKnowsIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err     error
		signed  int
		lookups int32
		end     string
	}{
		"unsigned":  {payment.ErrNoSuchPayment, -1, 5, "ignored"},
		"signed":    {payment.ErrNoSuchPayment, 0, 12, "deferred"},
		"no answer": {errNoAnswer, -1, 12, "deferred"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			look := &answering{lookup: func() (payment.Outcome, error) { return payment.Outcome{}, c.err }}
			r := newRig(t, setup{silent: true, provider: look.on})
			e := hint(webhooks.KindNotice, "tr_anything")
			e.SecretIndex = c.signed
			require.Equal(t, []fsm.Verdict{payment.Deferred}, r.tell(t, e))
			for range 4 {
				r.retry(t, true)
			}
			require.Equal(t, []string{"deferred"}, rows[string](t, r, "SELECT verdict FROM provider_events WHERE next_try_at > now()"))
			for range 8 {
				r.retry(t, true)
			}
			require.Equal(t, c.lookups, look.lookups.Load())
			require.Equal(t, []string{c.end}, rows[string](t, r, "SELECT verdict FROM provider_events"))
			if c.end == "ignored" {
				require.Zero(t, rows[int](t, r, "SELECT count(*) FROM provider_events WHERE next_try_at IS NOT NULL")[0])
				require.Zero(t, rows[int](t, r, "SELECT count(*) FROM discrepancies")[0])
			}
		})
	}
}

// A notice of a payment that nobody here began is no different for having to be
// fetched: once its provider has answered, that is what a person is told.
func TestAHintOfNobodysPaymentAsksAPerson(t *testing.T) {
	t.Parallel()
	silent := func() (payment.Outcome, error) { return payment.Outcome{}, errNoAnswer }
	for name, c := range map[string]struct {
		lookup func() (payment.Outcome, error)
		end    []string
	}{
		"known to the provider": {says(fsm.NewsSucceeded), []string{"unmatched_event", "unmatched"}},
		"no answer":             {silent, []string{"needs_review", "deferred"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			look := &answering{lookup: c.lookup}
			r := newRig(t, setup{silent: true, provider: look.on})
			require.Equal(t, []fsm.Verdict{payment.Deferred}, r.tell(t, hint(webhooks.KindSucceeded, "yoo_of_another_system")))
			r.retry(t, true)
			look.lookup = silent
			for range 11 {
				r.retry(t, true)
			}
			require.EqualValues(t, 12, look.lookups.Load())
			require.Equal(t, c.end, rows[string](t, r, "SELECT kind FROM discrepancies UNION ALL SELECT verdict FROM provider_events"))
			require.EqualValues(t, 1, r.parked(t))
		})
	}
}

// The provider may show a payment a little later than it tells of it.
func TestAnUnsignedHintThatIsEarlyIsApplied(t *testing.T) {
	t.Parallel()
	look := &answering{lookup: func() (payment.Outcome, error) { return payment.Outcome{}, payment.ErrNoSuchPayment }}
	r := newRig(t, setup{silent: true, provider: look.on})
	paid := r.paid(t, "A-1", "tok_never")
	r.tell(t, hint(webhooks.KindNotice, paid.ProviderPaymentID))
	for range 4 {
		r.retry(t, true)
	}
	look.lookup = says(fsm.NewsSucceeded)
	r.retry(t, true)
	require.Equal(t, succeeded, standingOf(r.attempt(t, paid.ID)))
	require.Equal(t, []string{"applied"}, r.verdicts(t, paid.ID))
}

// backs is a provider that tells of refunds as it was told to.
type backs struct {
	answering

	refund func() (payment.RefundOutcome, error)
	asked  []payment.RefundRef
}

func (p *backs) on(of payment.Provider) payment.Provider {
	p.Provider = of
	return p
}

func (p *backs) LookupRefund(_ context.Context, ref payment.RefundRef) (payment.RefundOutcome, error) {
	p.asked = append(p.asked, ref)
	return p.refund()
}

// sevenEuros is a refund as its provider tells of it.
func sevenEuros(news fsm.News) func() (payment.RefundOutcome, error) {
	return func() (payment.RefundOutcome, error) {
		return payment.RefundOutcome{News: news, ProviderRefundID: "re_1", Money: &payment.Money{Minor: 700, Currency: "EUR"}}, nil
	}
}

// refunded is a hint of a refund, with an amount that nobody should believe.
func refunded(of payment.Reply) webhooks.Event {
	e := hint(webhooks.KindRefundSucceeded, of.ProviderPaymentID)
	e.RefundID, e.Money = "re_1", &webhooks.Money{Minor: 1, Currency: "EUR"}
	return e
}

// A refund that was made in the provider's dashboard, and that only a question to
// the provider tells of, counts.
func TestARefundThatMustBeFetchedCounts(t *testing.T) {
	t.Parallel()
	p := &backs{refund: func() (payment.RefundOutcome, error) { return payment.RefundOutcome{}, payment.ErrNoSuchPayment }}
	r := newRig(t, setup{silent: true, provider: p.on})
	paid := r.paid(t, "A-1", "tok_success")
	require.Equal(t, []fsm.Verdict{payment.Deferred}, r.tell(t, refunded(paid)))
	r.retry(t, true)
	require.Equal(t, []payment.RefundRef{{ProviderRefundID: "re_1", ProviderPaymentID: paid.ProviderPaymentID}}, p.asked)
	p.refund = func() (payment.RefundOutcome, error) { return payment.RefundOutcome{}, errNoAnswer }
	r.retry(t, true)
	require.Empty(t, r.refunds(t, paid.ID), "what can't be asked about waits")
	require.Equal(t, []string{"deferred"}, rows[string](t, r, "SELECT verdict FROM provider_events WHERE next_try_at > now()"))

	p.refund = sevenEuros(fsm.NewsProcessing)
	r.retry(t, true)
	require.Equal(t, []string{"provider re_1 pending 700"}, r.refunds(t, paid.ID))
	require.Zero(t, r.attempt(t, paid.ID).Refunded)
	p.refund = sevenEuros(fsm.NewsSucceeded)
	for range 2 {
		r.tell(t, refunded(paid))
		r.retry(t, true)
	}
	require.Equal(t, []string{"provider re_1 succeeded 700"}, r.refunds(t, paid.ID))
	require.EqualValues(t, 700, r.attempt(t, paid.ID).Refunded)
	require.Equal(t, []string{"repeat", "applied", "repeat"}, r.verdicts(t, paid.ID))
	require.Zero(t, p.lookups.Load())
	require.Empty(t, r.discrepancies(t, paid.ID))
	require.Empty(t, r.verify(t))
}

// The failure that the provider tells of is that of the refund.
func TestARefundThatIsFetchedMayHaveFailed(t *testing.T) {
	t.Parallel()
	p := &backs{refund: func() (payment.RefundOutcome, error) {
		o, _ := sevenEuros(fsm.NewsFailed)()
		o.Failure = payment.NewFailure("provider_rejected", "rejected_by_payee")
		return o, nil
	}}
	r := newRig(t, setup{silent: true, provider: p.on})
	paid := r.paid(t, "A-1", "tok_success")
	r.tell(t, refunded(paid))
	r.retry(t, true)
	require.Equal(t, []string{"provider re_1 failed 700"}, r.refunds(t, paid.ID))
	require.Equal(t, []string{"rejected_by_payee"}, rows[string](t, r, "SELECT failure_provider_code FROM refunds"))
	require.Zero(t, r.attempt(t, paid.ID).Refunded)
	require.Empty(t, r.verify(t))
}

// A refund may be fetched before the payment that it is of is known to be paid.
func TestARefundThatIsFetchedFirstWaitsForItsPayment(t *testing.T) {
	t.Parallel()
	p := &backs{refund: sevenEuros(fsm.NewsSucceeded)}
	r := newRig(t, setup{silent: true, provider: p.on})
	paid := r.paid(t, "A-1", "tok_never")
	r.tell(t, refunded(paid))
	r.retry(t, true)
	require.Empty(t, r.refunds(t, paid.ID))
	r.say(t, paid.ID, webhooks.KindSucceeded)
	r.retry(t, true)
	require.EqualValues(t, 700, r.attempt(t, paid.ID).Refunded)
	require.Empty(t, r.verify(t))
}

// Nor does such a notice say which of our refunds it is of.
func TestAHintDoesNotNameOurRefund(t *testing.T) {
	t.Parallel()
	var ours payment.Refunded
	p := &backs{refund: sevenEuros(fsm.NewsSucceeded)}
	r := newRig(t, setup{silent: true, provider: func(of payment.Provider) payment.Provider { return lostRefunds{p.on(of)} }})
	paid := r.paid(t, "A-1", "tok_success")
	some := int64(500)
	ours, err := r.Refund(t.Context(), shop, request("refund", "refund-1", ""), payment.CreateRefund{AttemptID: paid.ID, Amount: &some})
	require.NoError(t, err)
	e := refunded(paid)
	e.RefundReference = ours.ID.String()
	r.tell(t, e)
	r.retry(t, true)
	require.Equal(t, []string{"u1 pending 500"}, r.refunds(t, paid.ID))
	p.refund = func() (payment.RefundOutcome, error) {
		o, _ := sevenEuros(fsm.NewsSucceeded)()
		o.Reference, o.Money.Minor = ours.ID.String(), 500
		return o, nil
	}
	r.retry(t, true)
	require.Equal(t, []string{"u1 re_1 succeeded 500"}, r.refunds(t, paid.ID), "the provider itself says so")
}

// lostRefunds loses what becomes of refunds that are asked for.
type lostRefunds struct{ payment.Provider }

func (lostRefunds) Refund(context.Context, payment.RefundCall) (payment.RefundOutcome, error) {
	return payment.RefundOutcome{}, errNoAnswer
}

// A person who replays such a notice has the refund fetched, too.
func TestAReplayFetchesTheRefund(t *testing.T) {
	t.Parallel()
	p := &backs{refund: sevenEuros(fsm.NewsSucceeded)}
	r := newRig(t, setup{silent: true, provider: p.on})
	paid := r.paid(t, "A-1", "tok_success")
	r.tell(t, refunded(paid))
	id, err := payment.ParseEventID(rows[string](t, r, "SELECT event_id::text FROM provider_events")[0])
	require.NoError(t, err)
	dry, err := r.Replay(t.Context(), payment.Replay{ID: id, Dry: true})
	require.NoError(t, err)
	require.True(t, dry.Changed())
	require.Empty(t, r.refunds(t, paid.ID))
	done, err := r.Replay(t.Context(), payment.Replay{ID: id})
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, done.Verdict)
	require.EqualValues(t, 700, done.After.Refunded)
	require.Equal(t, webhooks.Money{Minor: 1, Currency: "EUR"}, *done.Event.Event.Money, "what the event said stays")
	require.Equal(t, []string{"provider re_1 succeeded 700"}, r.refunds(t, paid.ID))
}

// A refund of which the provider does not say how much it was is not passed over in silence.
func TestARefundWithoutAnAmountAsksAPerson(t *testing.T) {
	t.Parallel()
	p := &backs{refund: func() (payment.RefundOutcome, error) {
		return payment.RefundOutcome{News: fsm.NewsSucceeded, ProviderRefundID: "re_1"}, nil
	}}
	r := newRig(t, setup{silent: true, provider: p.on})
	paid := r.paid(t, "A-1", "tok_success")
	r.tell(t, refunded(paid))
	r.retry(t, true)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, paid.ID))
	require.Equal(t, []string{"conflict"}, r.verdicts(t, paid.ID))
	require.Empty(t, r.verify(t))
}

// unasked is a rig whose provider can't be asked about refunds.
func unasked(t *testing.T) *rig {
	t.Helper()
	p := &answering{can: func(c *payment.Capabilities) { c.LookupRefund = false }}
	return newRig(t, setup{silent: true, provider: p.on})
}

// noticed delivers a notice of a refund without an id (T-Bank's), signed or not, and
// has its payment fetched. No amount is 0.
func (r *rig) noticed(t *testing.T, of payment.Reply, kind webhooks.Kind, minor int64, signed bool) {
	t.Helper()
	e := hint(kind, of.ProviderPaymentID)
	if signed {
		e.SecretIndex = 0
	}
	if minor > 0 {
		e.Money = &webhooks.Money{Minor: minor, Currency: "EUR"}
	}
	require.Equal(t, []fsm.Verdict{payment.Deferred}, r.tell(t, e))
	r.retry(t, true)
}

// That all was paid back is plain, even where nobody can be asked.
func TestAWholeRefundThatNobodyCanBeAskedAboutCounts(t *testing.T) {
	t.Parallel()
	r := unasked(t)
	paid := r.paid(t, "A-1", "tok_success")
	for range 2 {
		r.noticed(t, paid, webhooks.KindRefundSucceeded, price, true)
	}
	require.EqualValues(t, price, r.attempt(t, paid.ID).Refunded)
	require.Empty(t, r.discrepancies(t, paid.ID))
	require.Equal(t, []string{"applied", "repeat"}, r.verdicts(t, paid.ID))
	require.Empty(t, r.verify(t))
}

// Of a part nobody knows how much it was: a person is asked each time, but not
// before it is over.
func TestAPartialRefundThatNobodyCanBeAskedAboutAsksAPerson(t *testing.T) {
	t.Parallel()
	r := unasked(t)
	paid := r.paid(t, "A-1", "tok_success")
	r.noticed(t, paid, webhooks.KindRefundPending, 0, true)
	require.Empty(t, r.discrepancies(t, paid.ID))
	r.noticed(t, paid, webhooks.KindRefundSucceeded, 0, true)
	r.noticed(t, paid, webhooks.KindRefundSucceeded, 700, true)
	r.noticed(t, paid, webhooks.KindRefundSucceeded, price, false)
	require.Zero(t, r.attempt(t, paid.ID).Refunded)
	require.Equal(t, []string{"needs_review", "needs_review", "needs_review"}, r.discrepancies(t, paid.ID))
	require.Equal(t, []string{"repeat", "deferred", "deferred", "deferred"}, r.verdicts(t, paid.ID))
	require.Empty(t, r.verify(t))
}

// What contradicts the attempt's end stays a conflict, though a person is asked about
// the refund as well.
func TestARefundOfAFailedPaymentThatWasPaidAfterAllIsAConflict(t *testing.T) {
	t.Parallel()
	p := &answering{can: func(c *payment.Capabilities) { c.LookupRefund = false }}
	r := newRig(t, setup{silent: true, provider: p.on})
	paid := r.paid(t, "A-1", "tok_never")
	r.say(t, paid.ID, webhooks.KindFailed)
	p.lookup = says(fsm.NewsSucceeded)
	r.noticed(t, paid, webhooks.KindRefundSucceeded, 0, true)
	require.ElementsMatch(t, []string{"late_success", "needs_review"}, r.discrepancies(t, paid.ID))
	require.Contains(t, r.verdicts(t, paid.ID), "conflict")
	require.Empty(t, r.verify(t))
}

// The notice of a refund that was asked for here asks nobody.
func TestTheNoticeOfOurOwnRefundAsksNobody(t *testing.T) {
	t.Parallel()
	r := unasked(t)
	paid := r.paid(t, "A-1", "tok_success")
	some := int64(700)
	_, err := r.Refund(t.Context(), shop, request("refund", "refund-1", ""), payment.CreateRefund{AttemptID: paid.ID, Amount: &some})
	require.NoError(t, err)
	r.noticed(t, paid, webhooks.KindRefundSucceeded, 0, true)
	require.Empty(t, r.discrepancies(t, paid.ID))
	r.exec(t, `UPDATE refunds SET created_at = created_at - age, updated_at = updated_at - age, finalized_at = finalized_at - age
		FROM (SELECT interval '1 hour' AS age) a`)
	r.noticed(t, paid, webhooks.KindRefundSucceeded, 0, true)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, paid.ID), "another one, in the dashboard")
}
