package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestAttribute(t *testing.T) {
	t.Parallel()
	t.Run("webhooks_before_the_responses", attributeWebhooksBeforeTheResponses)
	t.Run("responses_before_the_webhooks", attributeResponsesBeforeTheWebhooks)
	t.Run("name_frees_those_that_wait", attributeNameFreesThoseThatWait)
	t.Run("dashboards_waits_for_ours", attributeDashboardsWaitsForOurs)
	t.Run("by_another_name_of_its_payment", attributeByAnotherNameOfItsPayment)
	t.Run("ours_taken_for_the_dashboards", attributeOursTakenForTheDashboards)
	t.Run("failed_one_taken_for_the_dashboards", attributeFailedOneTakenForTheDashboards)
	t.Run("one_name_of_two_needs_review", attributeOneNameOfTwoNeedsReview)
	t.Run("fetch_is_due_once_ours_is_named", attributeFetchIsDueOnceOursIsNamed)
	t.Run("ours_by_its_response", attributeOursByItsResponse)
	t.Run("dashboards_taken_for_ours", attributeDashboardsTakenForOurs)
	t.Run("unknown_amount_may_be_ours", attributeUnknownAmountMayBeOurs)
}

// Two refunds of one amount are made at once, and their webhooks carry no name of this side:
// before the responses nothing shows which is which, nor that they were made here.
func attributeWebhooksBeforeTheResponses(t *testing.T) {
	t.Parallel()
	made, answer := make(chan string, 2), make(chan struct{})
	p := &refunding{refund: func(send func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
		o, err := send()
		made <- o.ProviderRefundID
		<-answer
		return o, err
	}}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	done, amount := make(chan error, 2), int64(500)
	for _, key := range []string{"refund-1", "refund-2"} {
		go func() {
			_, err := r.Refund(t.Context(), shop, request("refund", key, ""), commands.CreateRefund{AttemptID: id, Amount: &amount})
			done <- err
		}()
	}
	first, second := <-made, <-made
	require.Equal(t, []fsm.Verdict{fsm.Applied, fsm.Applied}, r.tell(t,
		cents(webhooks.KindRefundSucceeded, id, first, 500), cents(webhooks.KindRefundSucceeded, id, second, 500)))
	require.EqualValues(t, 1000, r.attempt(t, id).Refunded)
	require.Equal(t, []string{"u1 pending 500", "u1 pending 500"}, r.refunds(t, id), "they may be ours")
	close(answer)
	for range 2 {
		require.NoError(t, <-done)
	}
	require.EqualValues(t, 1000, r.attempt(t, id).Refunded)
	require.Len(t, r.refunds(t, id), 2)
	require.Empty(t, r.discrepancies(t, id))
	require.EqualValues(t, price-1000, r.refund(t, id, "refund-3").Money.Minor)
	require.Empty(t, r.verify(t))
}

func attributeResponsesBeforeTheWebhooks(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_success").ID
	for _, key := range []string{"refund-1", "refund-2"} {
		name := r.refundOf(t, id, key, 500).ProviderRefundID
		require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, cents(webhooks.KindRefundSucceeded, id, name, 500)))
	}
	require.EqualValues(t, 1000, r.attempt(t, id).Refunded)
	require.Len(t, r.refunds(t, id), 2)
	require.Empty(t, r.verify(t))
}

// A webhook may also bring the name or the end of the refund that other events wait for. The released events may release
// further ones.
func attributeNameFreesThoseThatWait(t *testing.T) {
	t.Parallel()
	for kind, counted := range map[webhooks.Kind]int64{webhooks.KindRefundSucceeded: 1300, webhooks.KindRefundFailed: 800} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			p := &refunding{refund: backLost}
			r := newEnv(t, setup{silent: true, provider: p.on})
			id := r.paid(t, "A-1", "tok_success").ID
			first, second := r.refundOf(t, id, "refund-1", 500), r.refundOf(t, id, "refund-2", 500)
			require.Equal(t, []fsm.Verdict{fsm.Applied, fsm.Applied}, r.tell(t,
				cents(webhooks.KindRefundSucceeded, id, "re_theirs", 300), cents(webhooks.KindRefundSucceeded, id, "re_2", 500)))
			named := cents(kind, id, "re_1", 500)
			named.RefundReference = first.ID.String()
			r.tell(t, named)
			require.Equal(t, counted, r.attempt(t, id).Refunded)
			require.NotContains(t, r.refunds(t, id), "provider re_theirs succeeded 300", "it may be the second one")
			named = cents(webhooks.KindRefundPending, id, "re_2", 500)
			named.RefundReference = second.ID.String()
			r.tell(t, named)
			require.Equal(t, counted, r.attempt(t, id).Refunded)
			require.Contains(t, r.refunds(t, id), "provider re_theirs succeeded 300")
			require.Len(t, r.refunds(t, id), 3)
			require.Equal(t, []string{"succeeded"}, rows[string](t, r, "SELECT status FROM refunds WHERE refund_id = $1", second.ID.String()))
			require.Empty(t, r.verify(t))
		})
	}
}

// A refund of the dashboard's waits while it could be ours, and is taken in once
// ours has failed, or has another name.
func attributeDashboardsWaitsForOurs(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: backLost, lookup: func() (gateway.RefundOutcome, error) {
		return gateway.RefundOutcome{Event: fsm.EventFailed, ProviderRefundID: "re_ours"}, nil
	}}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	ours := r.refundOf(t, id, "refund-1", 500)
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, cents(webhooks.KindRefundSucceeded, id, "re_theirs", 300)))
	r.retry(t, true)
	require.Equal(t, []string{"u1 pending 500"}, r.refunds(t, id))

	r.exec(t, "WITH r AS (UPDATE refunds SET created_at = created_at - interval '11 minutes' WHERE refund_id = $1) UPDATE operations SET created_at = created_at - interval '11 minutes', first_sent_at = first_sent_at - interval '11 minutes' WHERE kind = 'refund' AND refund_id = $1", ours.ID.String())
	_, err := r.RecheckRefund(t.Context(), ours.ID, byTest)
	require.NoError(t, err)
	require.Equal(t, []string{"u1 re_ours failed 500", "provider re_theirs succeeded 300"}, r.refunds(t, id))
	require.EqualValues(t, 300, r.attempt(t, id).Refunded)
	require.Zero(t, r.parked(t))
	require.Empty(t, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

// The report may use any name of its payment: a payment has several names.
func attributeByAnotherNameOfItsPayment(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: backLost}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, event(webhooks.KindSucceeded, id.String(), "ch_1")))
	ours := r.refundOf(t, id, "refund-1", 500)
	theirs := cents(webhooks.KindRefundSucceeded, id, "re_theirs", 300)
	theirs.References = []string{"ch_1"}
	named := cents(webhooks.KindRefundSucceeded, id, "re_ours", 500)
	named.RefundReference = ours.ID.String()
	require.Equal(t, []fsm.Verdict{fsm.Applied, fsm.Applied}, r.tell(t, theirs, named))
	require.Zero(t, r.parked(t))
	require.Equal(t, []string{"u1 re_ours succeeded 500", "provider re_theirs succeeded 300"}, r.refunds(t, id))
	require.EqualValues(t, 800, r.attempt(t, id).Refunded)
	require.Empty(t, r.verify(t))
}

// Our refund gets a name that another refund on disk has. That refund was taken for a dashboard refund but was ours all
// the time.
func attributeOursTakenForTheDashboards(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]webhooks.Kind{
		"succeeded": webhooks.KindRefundSucceeded, "pending": webhooks.KindRefundPending, "failed": webhooks.KindRefundFailed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &refunding{refund: func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
				return gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: "re_1"}, nil
			}}
			r := newEnv(t, setup{silent: true, provider: p.on})
			id := r.paid(t, "A-1", "tok_success").ID
			r.tell(t, cents(kind, id, "re_1", 500))
			ours := r.refundOf(t, id, "refund-1", 500)
			require.Equal(t, "re_1", ours.ProviderRefundID)
			require.EqualValues(t, name, ours.State)
			p.refund = nil
			if kind != webhooks.KindRefundFailed {
				r.tell(t, cents(webhooks.KindRefundSucceeded, id, "re_1", 500))
				require.EqualValues(t, 500, r.attempt(t, id).Refunded)
				require.EqualValues(t, price-500, r.refund(t, id, "refund-2").Money.Minor, "what is left is still there")
			} else {
				require.Zero(t, r.attempt(t, id).Refunded)
			}
			require.Empty(t, r.verify(t))
		})
	}
}

// The same for a refund that had failed here but was paid nevertheless.
func attributeFailedOneTakenForTheDashboards(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: turnedAway}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	ours := r.refundOf(t, id, "refund-1", 500)
	told := cents(webhooks.KindRefundSucceeded, id, "re_1", 500)
	again := cents(webhooks.KindRefundSucceeded, id, "re_1", 500)
	again.RefundReference = ours.ID.String()
	require.Equal(t, []fsm.Verdict{fsm.Applied, fsm.Conflict}, r.tell(t, told, again))
	require.Equal(t, []string{"u1 re_1 failed 500 reversed", "provider succeeded 500"}, r.refunds(t, id))
	require.EqualValues(t, 500, r.attempt(t, id).Refunded)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

// Two refunds of this side that get one name need review, and are looked up further.
func attributeOneNameOfTwoNeedsReview(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
		return gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: "re_1"}, nil
	}}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	require.Equal(t, fsm.RefundSucceeded, r.refundOf(t, id, "refund-1", 500).State)
	second := r.refundOf(t, id, "refund-2", 500)
	require.Equal(t, fsm.RefundPending, second.State)
	second, err := r.RecheckRefund(t.Context(), second.ID, byTest)
	require.NoError(t, err)
	require.Equal(t, []int32{1}, rows[int32](t, r, "SELECT tries FROM operations WHERE refund_id = $1", second.ID.String()))
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.EqualValues(t, 500, r.attempt(t, id).Refunded)
	require.Empty(t, r.verify(t))
}

// An event of a refund that must be fetched is fetched as soon as ours has its name: it may
// be of another one.
func attributeFetchIsDueOnceOursIsNamed(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
		return gateway.RefundOutcome{}, errNoAnswer
	}}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	ours := r.refundOf(t, id, "refund-1", 700)
	thin := cents(webhooks.KindRefundSucceeded, id, "re_2", 300)
	thin.NeedsFetch = true
	require.Equal(t, []fsm.Verdict{payment.VerdictDeferred}, r.tell(t, thin))
	r.exec(t, "UPDATE provider_events SET next_try_at = now() + interval '1 hour'")
	named := cents(webhooks.KindRefundPending, id, "re_1", 700)
	named.RefundReference = ours.ID.String()
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, named))
	require.Equal(t, []bool{true}, rows[bool](t, r, "SELECT next_try_at <= now() FROM provider_events WHERE provider_event_id = $1", thin.ID))
}

// A refund that was taken for the dashboard's, and is ours by the response to its call, does not
// become the dashboard's again if a webhook calls ours by another name still.
func attributeOursByItsResponse(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
		return gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: "re_1"}, nil
	}}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	r.tell(t, cents(webhooks.KindRefundSucceeded, id, "re_1", 500))
	other := cents(webhooks.KindRefundSucceeded, id, "re_2", 500)
	other.RefundReference = r.refundOf(t, id, "refund-1", 500).ID.String()
	require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, other))
	require.EqualValues(t, 500, r.attempt(t, id).Refunded)
	require.Empty(t, r.verify(t))
}

// A refund of the dashboard's that was taken for ours, which has no name yet and is of the
// same amount, is another one once ours has its name: both count.
func attributeDashboardsTakenForOurs(t *testing.T) {
	t.Parallel()
	for name, answered := range map[string]bool{"a webhook names ours": false, "the answer names ours": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &refunding{refund: backLost}
			r := newEnv(t, setup{silent: true, provider: p.on})
			id := r.paid(t, "A-1", "tok_success").ID
			theirs := func() {
				require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, cents(webhooks.KindRefundSucceeded, id, "re_theirs", 500)))
			}
			if answered {
				p.refund = func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
					theirs()
					return gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: "re_ours", Money: &payment.Money{Minor: 500, Currency: "EUR"}}, nil
				}
			}
			ours := r.refundOf(t, id, "refund-1", 500)
			if !answered {
				theirs()
			}
			named := cents(webhooks.KindRefundSucceeded, id, "re_ours", 500)
			named.RefundReference = ours.ID.String()
			require.Equal(t, []fsm.Verdict{map[bool]fsm.Verdict{false: fsm.Applied, true: fsm.Repeat}[answered]}, r.tell(t, named))
			require.Equal(t, []string{"u1 re_ours succeeded 500", "provider re_theirs succeeded 500"}, r.refunds(t, id))
			require.EqualValues(t, 1000, r.attempt(t, id).Refunded)
			require.Empty(t, r.discrepancies(t, id))
			require.Empty(t, r.verify(t))
		})
	}
}

// A refund of an unknown amount waits while it may be ours, which has no name yet.
func attributeUnknownAmountMayBeOurs(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: backLost}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	ours := r.refundOf(t, id, "refund-1", 500)
	blank, whose := event(webhooks.KindRefundSucceeded, id.String()), cents(webhooks.KindRefundSucceeded, id, "", 300)
	blank.RefundID, whose.RefundReference = "re_1", "a stranger's"
	require.Equal(t, []fsm.Verdict{payment.VerdictDeferred, payment.VerdictDeferred}, r.tell(t, blank, whose))
	require.Zero(t, r.attempt(t, id).Refunded)
	named := cents(webhooks.KindRefundPending, id, "re_1", 500)
	named.RefundReference = ours.ID.String()
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, named))
	require.Equal(t, []string{"u1 re_1 succeeded 500"}, r.refunds(t, id))
	require.EqualValues(t, 500, r.attempt(t, id).Refunded)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id), "of the stranger's")
	require.Zero(t, r.parked(t))
	require.Empty(t, r.verify(t))
}
