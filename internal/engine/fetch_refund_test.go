package engine_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestFetchRefund(t *testing.T) {
	t.Parallel()
	t.Run("counts", fetchRefundCounts)
	t.Run("failed", fetchRefundFailed)
	t.Run("before_its_payment", fetchRefundBeforeItsPayment)
	t.Run("hint_names_no_refund", fetchRefundHintNamesNoRefund)
	t.Run("without_an_amount_needs_review", fetchRefundWithoutAnAmountNeedsReview)
	t.Run("whole_without_a_lookup", fetchRefundWholeWithoutALookup)
	t.Run("part_without_a_lookup_needs_review", fetchRefundPartWithoutALookupNeedsReview)
	t.Run("of_a_failed_payment", fetchRefundOfAFailedPayment)
	t.Run("of_ours_makes_no_lookup", fetchRefundOfOursMakesNoLookup)
	t.Run("tbank_cabinet", fetchRefundTbankCabinet)
	t.Run("age_from_the_notice", fetchRefundAgeFromTheNotice)
}

// backs is a provider with refunds that the test chooses.
type backs struct {
	answering

	refund func() (gateway.RefundOutcome, error)
	asked  []gateway.RefundRef
}

func (p *backs) on(of gateway.Provider) gateway.Provider {
	p.Provider = of
	return p
}

func (p *backs) LookupRefund(_ context.Context, ref gateway.RefundRef) (gateway.RefundOutcome, error) {
	p.asked = append(p.asked, ref)
	return p.refund()
}

// sevenEuros is a refund as its provider reports it.
func sevenEuros(news fsm.Event) func() (gateway.RefundOutcome, error) {
	return func() (gateway.RefundOutcome, error) {
		return gateway.RefundOutcome{Event: news, ProviderRefundID: "re_1", Money: &payment.Money{Minor: 700, Currency: "EUR"}}, nil
	}
}

// refunded is a hint of a refund, with an amount that must not count.
func refunded(of commands.Reply) webhooks.Event {
	e := hint(webhooks.KindRefundSucceeded, of.ProviderPaymentID)
	e.RefundID, e.Money = "re_1", &webhooks.Money{Minor: 1, Currency: "EUR"}
	return e
}

// A refund that was made in the provider's dashboard, and that only a lookup reports, counts.
func fetchRefundCounts(t *testing.T) {
	t.Parallel()
	p := &backs{refund: func() (gateway.RefundOutcome, error) { return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment }}
	r := newEnv(t, setup{silent: true, provider: p.on})
	paid := r.paid(t, "A-1", "tok_success")
	require.Equal(t, []fsm.Verdict{payment.VerdictDeferred}, r.tell(t, refunded(paid)))
	r.retry(t, true)
	require.Equal(t, []gateway.RefundRef{{ProviderRefundID: "re_1", ProviderPaymentID: paid.ProviderPaymentID}}, p.asked)
	p.refund = func() (gateway.RefundOutcome, error) { return gateway.RefundOutcome{}, errNoAnswer }
	r.retry(t, true)
	require.Empty(t, r.refunds(t, paid.ID), "what can't be asked about waits")
	require.Equal(t, []string{"deferred"}, rows[string](t, r, "SELECT verdict FROM provider_events WHERE next_try_at > received_at + interval '1 second'"))

	p.refund = sevenEuros(fsm.EventProcessing)
	r.retry(t, true)
	require.Equal(t, []string{"provider re_1 pending 700"}, r.refunds(t, paid.ID))
	require.Zero(t, r.attempt(t, paid.ID).Refunded)
	p.refund = sevenEuros(fsm.EventSucceeded)
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

// The failure that the lookup reports belongs to the refund.
func fetchRefundFailed(t *testing.T) {
	t.Parallel()
	p := &backs{refund: func() (gateway.RefundOutcome, error) {
		o, _ := sevenEuros(fsm.EventFailed)()
		o.Failure = payment.NewFailure("provider_rejected", "rejected_by_payee")
		return o, nil
	}}
	r := newEnv(t, setup{silent: true, provider: p.on})
	paid := r.paid(t, "A-1", "tok_success")
	r.tell(t, refunded(paid))
	r.retry(t, true)
	require.Equal(t, []string{"provider re_1 failed 700"}, r.refunds(t, paid.ID))
	require.Equal(t, []string{"rejected_by_payee"}, rows[string](t, r, "SELECT failure_provider_code FROM refunds"))
	require.Zero(t, r.attempt(t, paid.ID).Refunded)
	require.Empty(t, r.verify(t))
}

// A refund may be fetched before its payment has succeeded here.
func fetchRefundBeforeItsPayment(t *testing.T) {
	t.Parallel()
	p := &backs{refund: sevenEuros(fsm.EventSucceeded)}
	r := newEnv(t, setup{silent: true, provider: p.on})
	paid := r.paid(t, "A-1", "tok_never")
	r.tell(t, refunded(paid))
	r.retry(t, true)
	require.Empty(t, r.refunds(t, paid.ID))
	r.say(t, paid.ID, webhooks.KindSucceeded)
	r.retry(t, true)
	require.EqualValues(t, 700, r.attempt(t, paid.ID).Refunded)
	require.Empty(t, r.verify(t))
}

// Nor does a hint name which of the refunds made here it is of.
func fetchRefundHintNamesNoRefund(t *testing.T) {
	t.Parallel()
	var ours commands.RefundReply
	var reference string
	p := &backs{refund: func() (gateway.RefundOutcome, error) {
		o, _ := sevenEuros(fsm.EventSucceeded)()
		o.Reference, o.Money.Minor = reference, 500
		return o, nil
	}}
	r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider { return lostRefunds{p.on(of)} }})
	paid := r.paid(t, "A-1", "tok_success")
	some := int64(500)
	ours, err := r.Refund(t.Context(), shop, request("refund", "refund-1", ""), commands.CreateRefund{AttemptID: paid.ID, Amount: &some})
	require.NoError(t, err)
	noticed := func() []string {
		e := refunded(paid)
		e.RefundReference = ours.ID.String()
		r.tell(t, e)
		r.retry(t, true)
		require.EqualValues(t, 500, r.attempt(t, paid.ID).Refunded)
		return r.refunds(t, paid.ID)
	}
	require.Equal(t, []string{"u1 pending 500"}, noticed())
	reference = ours.ID.String()
	require.Equal(t, []string{"u1 re_1 succeeded 500"}, noticed(), "the provider itself says so")
	require.Empty(t, r.discrepancies(t, paid.ID))
	require.Empty(t, r.verify(t))
}

// A refund that is reported without an amount needs review.
func fetchRefundWithoutAnAmountNeedsReview(t *testing.T) {
	t.Parallel()
	p := &backs{refund: func() (gateway.RefundOutcome, error) {
		return gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: "re_1"}, nil
	}}
	r := newEnv(t, setup{silent: true, provider: p.on})
	paid := r.paid(t, "A-1", "tok_success")
	r.tell(t, refunded(paid))
	r.retry(t, true)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, paid.ID))
	require.Equal(t, []string{"conflict"}, r.verdicts(t, paid.ID))
	require.Empty(t, r.verify(t))
}

// withoutRefundLookup is an env with a provider that can't look refunds up.
func withoutRefundLookup(t *testing.T) *env {
	t.Helper()
	p := &answering{can: func(c *payment.Capabilities) { c.RefundLookup = payment.RefundLookupNone }}
	return newEnv(t, setup{silent: true, provider: p.on})
}

// noticed delivers a notice of a refund without an id (T-Bank's), signed or not, and
// has its payment fetched. No amount is 0.
func (r *env) noticed(t *testing.T, of commands.Reply, kind webhooks.Kind, minor int64, signed bool) {
	t.Helper()
	e := hint(kind, of.ProviderPaymentID)
	if signed {
		e.SecretIndex = 0
	}
	if minor > 0 {
		e.Money = &webhooks.Money{Minor: minor, Currency: "EUR"}
	}
	require.Equal(t, []fsm.Verdict{payment.VerdictDeferred}, r.tell(t, e))
	r.retry(t, true)
}

// A refund of the whole amount counts, even where it can't be looked up.
func fetchRefundWholeWithoutALookup(t *testing.T) {
	t.Parallel()
	r := withoutRefundLookup(t)
	paid := r.paid(t, "A-1", "tok_success")
	for range 2 {
		r.noticed(t, paid, webhooks.KindRefundSucceeded, price, true)
	}
	require.EqualValues(t, price, r.attempt(t, paid.ID).Refunded)
	require.Empty(t, r.discrepancies(t, paid.ID))
	require.Equal(t, []string{"applied", "repeat"}, r.verdicts(t, paid.ID))
	require.Empty(t, r.verify(t))
}

// The amount of a part that can't be looked up is unknown: it needs review each time, but not
// before it is over.
func fetchRefundPartWithoutALookupNeedsReview(t *testing.T) {
	t.Parallel()
	r := withoutRefundLookup(t)
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

// A contradiction to the attempt's end stays a conflict, though the refund needs review as well.
func fetchRefundOfAFailedPayment(t *testing.T) {
	t.Parallel()
	p := &answering{can: func(c *payment.Capabilities) { c.RefundLookup = payment.RefundLookupNone }}
	r := newEnv(t, setup{silent: true, provider: p.on})
	paid := r.paid(t, "A-1", "tok_never")
	r.say(t, paid.ID, webhooks.KindFailed)
	p.lookup = says(fsm.EventSucceeded)
	r.noticed(t, paid, webhooks.KindRefundSucceeded, 0, true)
	require.ElementsMatch(t, []string{"late_success", "needs_review"}, r.discrepancies(t, paid.ID))
	require.Contains(t, r.verdicts(t, paid.ID), "conflict")
	require.Empty(t, r.verify(t))
}

// The notice of a refund that was made here causes no lookup.
func fetchRefundOfOursMakesNoLookup(t *testing.T) {
	t.Parallel()
	r := withoutRefundLookup(t)
	paid := r.paid(t, "A-1", "tok_success")
	some := int64(700)
	_, err := r.Refund(t.Context(), shop, request("refund", "refund-1", ""), commands.CreateRefund{AttemptID: paid.ID, Amount: &some})
	require.NoError(t, err)
	r.noticed(t, paid, webhooks.KindRefundSucceeded, 0, true)
	require.Empty(t, r.discrepancies(t, paid.ID))
	r.exec(t, `UPDATE refunds SET created_at = created_at - age, updated_at = updated_at - age, finalized_at = finalized_at - age
		FROM (SELECT interval '1 hour' AS age) a`)
	r.noticed(t, paid, webhooks.KindRefundSucceeded, 0, true)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, paid.ID), "another one, in the dashboard")
}
