package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestFetch(t *testing.T) {
	t.Parallel()
	t.Run("once_its_name_is_known", fetchOnceItsNameIsKnown)
	t.Run("name_from_a_webhook", fetchNameFromAWebhook)
	t.Run("hint_names_another_attempt", fetchHintNamesAnotherAttempt)
	t.Run("locked_attempt_counts_no_try", fetchLockedAttemptCountsNoTry)
	t.Run("unknown_payment_is_given_up", fetchUnknownPaymentIsGivenUp)
	t.Run("unmatched_needs_review", fetchUnmatchedNeedsReview)
	t.Run("yookassa", fetchYookassa)
	t.Run("collected_again_at_gocardless", fetchCollectedAgainAtGocardless)
	t.Run("without_a_slot_counts_no_try", fetchWithoutASlotCountsNoTry)
	t.Run("made_due_meanwhile", fetchMadeDueMeanwhile)
	t.Run("held_back_counts_no_try", fetchHeldBackCountsNoTry)
}

// hint is an event that counts only by the result of a lookup.
func hint(kind webhooks.Kind, name string) webhooks.Event {
	e := event(kind, name)
	e.NeedsFetch, e.ProviderPaymentID, e.SecretIndex = true, name, -1
	return e
}

// retry tries the due events, or, with all, every parked event.
func (r *env) retry(t *testing.T, all bool) {
	t.Helper()
	if all {
		r.exec(t, "UPDATE provider_events SET next_try_at = now() WHERE next_try_at IS NOT NULL")
	}
	_, err := r.RetryParked(t.Context(), 10)
	require.NoError(t, err)
}

// An event that must be fetched and arrived before the payment's name was stored is fetched when the name arrives, with
// any content.
func fetchOnceItsNameIsKnown(t *testing.T) {
	t.Parallel()
	for _, kind := range []webhooks.Kind{webhooks.KindSucceeded, webhooks.KindFailed, webhooks.KindNotice} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			var r *env
			look := &answering{}
			p := &spy{charge: func(_ context.Context, _ gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
				out, err := send()
				require.Equal(t, []fsm.Verdict{payment.VerdictDeferred}, r.tell(t, hint(kind, out.ProviderPaymentID)))
				// It has been tried for long, in vain.
				r.exec(t, "UPDATE provider_events SET tries = 9, received_at = received_at - interval '12 minutes', next_try_at = now() + interval '8 minutes'")
				return out, err
			}}
			r = newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider { return p.on(look.on(of)) }})
			paid := r.paid(t, "A-1", "tok_never")
			require.Equal(t, requested, standingOf(paid.Attempt))
			require.Zero(t, look.lookups.Load())
			require.Equal(t, []string{"deferred"}, rows[string](t, r, "SELECT verdict FROM provider_events WHERE next_try_at <= now()"))

			r.retry(t, false)
			require.EqualValues(t, 1, look.lookups.Load())
			require.Equal(t, requested, standingOf(r.attempt(t, paid.ID).Attempt))
			require.Equal(t, []string{"repeat"}, r.verdicts(t, paid.ID))
			require.Zero(t, rows[int](t, r, "SELECT count(*) FROM provider_events WHERE next_try_at IS NOT NULL")[0])
		})
	}
}

// The same where a webhook brings the name; and a lookup without a response leaves the hint
// where it is.
func fetchNameFromAWebhook(t *testing.T) {
	t.Parallel()
	look := &answering{lookup: func() (gateway.Outcome, error) { return gateway.Outcome{}, errNoAnswer }}
	r := newEnv(t, setup{silent: true, provider: look.on})
	id := r.paid(t, "A-1", "tok_never").ID
	require.Equal(t, []fsm.Verdict{payment.VerdictDeferred}, r.tell(t, hint(webhooks.KindSucceeded, "ch_later")))
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, under(webhooks.KindAuthorized, id, "ch_later")))
	held := standing{"pending", "authorized", ""}
	r.retry(t, false)
	require.Equal(t, held, standingOf(r.attempt(t, id).Attempt))
	require.Equal(t, []string{"deferred"}, rows[string](t, r, "SELECT verdict FROM provider_events WHERE next_try_at > received_at + interval '1 second'"))

	look.lookup = says(fsm.EventFailed)
	r.asOld(t, time.Hour)
	require.Equal(t, requested, standingOf(r.attempt(t, id).Attempt), "that payment is over, and the charge of ours goes on")
	require.Empty(t, r.verify(t))
}

// A hint may name any attempt. Only the lookup shows the attempt of its payment.
func fetchHintNamesAnotherAttempt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signed int
		end    standing
	}{"unsigned": {-1, requested}, "signed": {0, succeeded}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			look := &answering{lookup: says(fsm.EventSucceeded)}
			r := newEnv(t, setup{silent: true, provider: look.on})
			victim := r.paid(t, "A-1", "tok_never")
			e := hint(webhooks.KindSucceeded, victim.ID.String())
			e.ProviderPaymentID, e.SecretIndex = "ch_of_somebody", c.signed
			e.References = append(e.References, e.ProviderPaymentID)
			require.Equal(t, []fsm.Verdict{payment.VerdictDeferred}, r.tell(t, e))
			r.retry(t, true)
			require.EqualValues(t, 1, look.lookups.Load())
			require.Equal(t, c.end, standingOf(r.attempt(t, victim.ID).Attempt))
		})
	}
}

// An attempt that is locked for a moment is no reason to wait for the next try,
// which may be an hour away.
func fetchLockedAttemptCountsNoTry(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	paid := r.paid(t, "A-1", "tok_never")
	thin := hint(webhooks.KindProcessing, paid.ProviderPaymentID)
	plain := event(webhooks.KindProcessing, "ch_2")
	require.Equal(t, []fsm.Verdict{payment.VerdictDeferred, payment.VerdictUnmatched}, r.tell(t, thin, plain))
	r.exec(t, `INSERT INTO attempt_references (account, reference, order_id, attempt_id) VALUES ('sandbox', 'ch_2', 'A-1', $1)`, paid.ID.String())
	r.exec(t, "UPDATE provider_events SET tries = 10")
	unlock := r.lock(t, paid.ID)
	r.retry(t, true)
	unlock()
	require.Equal(t, []int{10, 10}, rows[int](t, r, "SELECT tries FROM provider_events WHERE next_try_at < now() + interval '2 s'"))
	r.retry(t, true)
	require.Equal(t, []string{"repeat", "repeat"}, r.verdicts(t, paid.ID))
}

// Any sender can make an unsigned notice. If its provider does not find the payment after a few tries, the notice is
// ignored. A lookup without a response, and a signed notice, prove less.
func fetchUnknownPaymentIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err     error
		signed  int
		lookups int32
		end     string
	}{
		"unsigned":  {gateway.ErrNoSuchPayment, -1, 5, "ignored"},
		"signed":    {gateway.ErrNoSuchPayment, 0, 12, "deferred"},
		"no answer": {errNoAnswer, -1, 12, "deferred"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			look := &answering{lookup: func() (gateway.Outcome, error) { return gateway.Outcome{}, c.err }}
			r := newEnv(t, setup{silent: true, provider: look.on})
			e := hint(webhooks.KindNotice, "tr_anything")
			e.SecretIndex = c.signed
			require.Equal(t, []fsm.Verdict{payment.VerdictDeferred}, r.tell(t, e))
			for range 4 {
				r.retry(t, true)
			}
			require.Equal(t, []string{"deferred"}, rows[string](t, r, "SELECT verdict FROM provider_events WHERE next_try_at > received_at + interval '1 second'"))
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

// A notice of a foreign payment is treated the same if it must be fetched: after its lookup, the discrepancy shows the
// lookup's result.
func fetchUnmatchedNeedsReview(t *testing.T) {
	t.Parallel()
	silent := func() (gateway.Outcome, error) { return gateway.Outcome{}, errNoAnswer }
	for name, c := range map[string]struct {
		lookup func() (gateway.Outcome, error)
		end    []string
	}{
		"known to the provider": {says(fsm.EventSucceeded), []string{"unmatched_event", "unmatched"}},
		"no answer":             {silent, []string{"needs_review", "deferred"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			look := &answering{lookup: c.lookup}
			r := newEnv(t, setup{silent: true, provider: look.on})
			require.Equal(t, []fsm.Verdict{payment.VerdictDeferred}, r.tell(t, hint(webhooks.KindSucceeded, "yoo_of_another_system")))
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
