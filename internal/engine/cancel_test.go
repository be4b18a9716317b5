package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestCancel(t *testing.T) {
	t.Parallel()
	t.Run("refused", cancelIsRefused)
	t.Run("paid_with_another_amount", cancelPaidWithAnotherAmount)
	t.Run("after_a_lost_charge", cancelAfterALostCharge)
	t.Run("refused_afterwards", cancelRefusedAfterwards)
	t.Run("refused_before_a_hold", cancelRefusedBeforeAHold)
	t.Run("of_nothing_held_opens_no_discrepancy", cancelOfNothingHeldOpensNoDiscrepancy)
	t.Run("of_what_is_over_opens_no_discrepancy", cancelOfWhatIsOverOpensNoDiscrepancy)
	t.Run("quiet_since_the_last_send", cancelQuietSinceTheLastSend)
	t.Run("quiet_after_a_decline", cancelQuietAfterADecline)
}

// unwilling cancels nothing: a cancel only returns the status of the payment.
func unwilling(news fsm.Event) *answering {
	refused := func() (gateway.Outcome, error) { return gateway.Outcome{Event: news, Refused: true}, nil }
	return &answering{cancel: refused, lookup: says(news)}
}

// A payment that its provider does not cancel, as YooKassa before the customer has confirmed it,
// goes on: it is not shown as over.
func cancelIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		news fsm.Event
		err  error
		end  standing
	}{
		"it awaits its customer": {fsm.EventActionRequired, nil, standing{"pending", "awaiting_customer", ""}},
		"it is being worked at":  {fsm.EventProcessing, nil, standing{"pending", "requested", ""}},
		"it is paid":             {fsm.EventSucceeded, payment.ErrAttemptFinal, succeeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t, setup{silent: true, provider: func(p gateway.Provider) gateway.Provider { return unwilling(c.news).on(p) }})
			id := r.paid(t, "A-1", "tok_never").ID
			cancel := func() (commands.Reply, error) {
				return r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
			}
			_, err := cancel()
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.end, standingOf(r.attempt(t, id).Attempt))
			p, err := cancel()
			if c.err != nil {
				requireReplayed(t, c.err, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, idempotency.Reused, p.Result)
			require.Equal(t, c.end, standingOf(p.Attempt))
		})
	}
}

// An attempt that was paid with more than the amount is paid. A discrepancy shows the rest, and a cancel comes too late.
func cancelPaidWithAnotherAmount(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_wrong_amount").ID
	_, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
	require.ErrorIs(t, err, payment.ErrAttemptFinal)
	a := r.attempt(t, id)
	require.Equal(t, succeeded, standingOf(a.Attempt))
	require.EqualValues(t, price+1, a.Captured)
	require.Equal(t, []string{"amount_mismatch"}, r.discrepancies(t, id))
}

// A cancel has the time since which nothing can have been sent any more that takes the money: a
// response that was not waited for may belong to a call under way.
func cancelQuietSinceTheLastSend(t *testing.T) {
	t.Parallel()
	told := &quietly{}
	r := newEnv(t, setup{silent: true, provider: func(p gateway.Provider) gateway.Provider { told.Provider = p; return told }})
	began := time.Now()
	quietSince := func(least time.Duration) {
		t.Helper()
		require.GreaterOrEqual(t, told.quiet, least)
		require.LessOrEqual(t, told.quiet, least+time.Since(began))
	}
	id := r.paid(t, "A-1", "tok_never").ID
	_, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
	require.NoError(t, err)
	quietSince(-lease)
	r.exec(t, "UPDATE operations SET created_at = created_at - interval '10 minutes', first_sent_at = first_sent_at - interval '10 minutes' WHERE kind IN ('capture', 'cancel')")
	r.recheck(t, id)
	quietSince(10*time.Minute - lease)
}

// quietly loses cancels, and keeps the quiet time of the last one.
type quietly struct {
	gateway.Provider

	quiet time.Duration
}

func (p *quietly) Cancel(_ context.Context, c gateway.Cancel) (gateway.Outcome, error) {
	p.quiet = c.Quiet
	return gateway.Outcome{}, errNoAnswer
}

// A payment that was just declined may be cancelled at once: the decline was the result of all sent calls.
func cancelQuietAfterADecline(t *testing.T) {
	t.Parallel()
	told := &quietly{}
	p := &spy{charge: func(_ context.Context, _ gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		o, err := send()
		return gateway.Outcome{Event: fsm.EventSoftFailed, ProviderPaymentID: o.ProviderPaymentID, Failure: payment.NewFailure("card_declined", "")}, err
	}}
	r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider { told.Provider = of; return p.on(told) }})
	r.paid(t, "A-1", "tok_never")
	require.Greater(t, told.quiet, 24*time.Hour)
}

// A cancel may learn from a lookup the outcome of a charge with a lost response: the charge never arrived, or has a
// status. If the cancel has no response either, the lookup may show that the payment is paid.
func cancelAfterALostCharge(t *testing.T) {
	t.Parallel()
	lost := func(arrives bool) func(context.Context, gateway.Charge, func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		return func(_ context.Context, _ gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
			if arrives {
				_, _ = send()
			}
			return gateway.Outcome{}, errNoAnswer
		}
	}
	for name, c := range map[string]struct {
		arrives bool
		token   string
		end     standing
	}{
		"it never arrived": {false, "tok_success", standing{"failed", "final", "not_started"}},
		"it is open there": {true, "tok_never", standing{"pending", "requested", ""}},
		"it is paid there": {true, "tok_success", succeeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spied := &spy{charge: lost(c.arrives)}
			deaf := &answering{cancel: func() (gateway.Outcome, error) { return gateway.Outcome{}, errNoAnswer }}
			r := newEnv(t, setup{silent: true, provider: func(p gateway.Provider) gateway.Provider { return deaf.on(spied.on(p)) }})
			id := r.paid(t, "A-1", c.token).ID
			require.Equal(t, unknown, standingOf(r.attempt(t, id).Attempt))
			r.age(t, id, time.Hour)
			p, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
			require.NoError(t, err)
			require.Equal(t, c.end, standingOf(p.Attempt))
			require.Contains(t, rows[string](t, r, "SELECT cause_id FROM attempt_transitions WHERE cause = 'check'"), "cancel")
			r.audit(t, "A-1")
		})
	}
}

// A provider that accepted a cancel and then does not carry it out leaves the money held: it can
// be confirmed, or cancelled anew under another key, and a discrepancy is opened.
func cancelRefusedAfterwards(t *testing.T) {
	t.Parallel()
	r, p := unkept(t)
	id := r.held(t, "A-1").ID
	cancel := func(key string) {
		_, err := r.Cancel(t.Context(), customer, request("cancel", key, ""), id)
		require.NoError(t, err)
	}
	confirm := func() error {
		_, err := r.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: id})
		return err
	}
	require.Equal(t, []fsm.Verdict{fsm.Stale}, r.tell(t, cancelRefused(id, "nobody's")), "nobody here asked for one")
	cancel("cancel-key")
	require.ErrorIs(t, confirm(), payment.ErrBusy)
	first := *p.key.Load()
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, cancelRefused(id, "ours")))
	require.Equal(t, intent{Number: 1}, r.attempt(t, id).Intent)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.Equal(t, "authorized", r.attempt(t, id).Stage())
	require.Empty(t, r.due(t), "it is not tried again by itself")

	cancel("second-key")
	require.NotEqual(t, first, *p.key.Load())
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, cancelRefused(id, "ours, again")))
	require.NoError(t, confirm())
	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindSucceeded))
	require.Equal(t, []fsm.Verdict{fsm.Stale}, r.tell(t, cancelRefused(id, "late")))
	require.Empty(t, r.verify(t))
}

// A hold that is reported after its cancel was refused is released nevertheless, by a new cancel. Under the old key the
// provider would only repeat its receipt.
func cancelRefusedBeforeAHold(t *testing.T) {
	t.Parallel()
	r, p := unkept(t)
	id := r.paid(t, "A-1", "tok_never").ID
	_, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
	require.NoError(t, err)
	first := *p.key.Load()
	r.tell(t, cancelRefused(id, "ours"))
	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindAuthorized))
	r.recheck(t, id)
	require.NotEqual(t, first, *p.key.Load())
	require.Equal(t, payment.OperationCancel, r.attempt(t, id).Intent.Kind)
	require.Empty(t, r.discrepancies(t, id))
}

// An attempt that failed after a hold holds nothing, so a refused cancel of it is no discrepancy. The same is true for
// an attempt that never had a hold: the customer may be at the page.
func cancelOfNothingHeldOpensNoDiscrepancy(t *testing.T) {
	t.Parallel()
	r, _ := unkept(t)
	held := r.held(t, "A-1").ID
	r.over(t, held, time.Now().Add(time.Minute))
	require.True(t, r.attempt(t, held).Failed())
	require.Equal(t, []fsm.Verdict{fsm.Stale}, r.tell(t, cancelRefused(held, "one")))
	require.Empty(t, r.discrepancies(t, held))

	tried := r.paid(t, "A-2", "tok_never").ID
	require.Equal(t, fsm.Applied, r.say(t, tried, webhooks.KindSoftFailed))
	r.recheck(t, tried)
	r.tell(t, cancelRefused(tried, "two"))
	require.Equal(t, payment.OperationCancel, r.attempt(t, tried).Intent.Kind, "the schedule goes on with it")
	require.Empty(t, r.discrepancies(t, tried))
	require.Equal(t, fsm.Applied, r.say(t, tried, webhooks.KindFailed))
	require.Equal(t, []fsm.Verdict{fsm.Stale}, r.tell(t, cancelRefused(tried, "three")))
	require.Empty(t, r.discrepancies(t, tried), "it was asked for before the failure")

	left := r.paid(t, "A-3", "tok_never").ID
	_, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), left)
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, r.say(t, left, webhooks.KindFailed))
	require.Equal(t, []fsm.Verdict{fsm.Stale}, r.tell(t, cancelRefused(left, "four")))
	require.Empty(t, r.discrepancies(t, left))
}

// A cancel has its result once the provider reports that the payment is over, by any event. A hold may be released twice
// at once, by this side and in the dashboard: then one of the releases is declined, and nothing is held. A failure that
// is older than the cancel, or may be older, is no result of it.
func cancelOfWhatIsOverOpensNoDiscrepancy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		blind bool
		end   func(t *testing.T, r *env, p *answering, id payment.AttemptID)
		says  fsm.Verdict
	}{
		"it is asked": {false, func(t *testing.T, r *env, p *answering, id payment.AttemptID) {
			t.Helper()
			p.lookup = says(fsm.EventFailed)
			r.recheck(t, id)
			require.Nil(t, r.attempt(t, id).NextCheckAt)
		}, fsm.Stale},
		"it tells": {false, func(t *testing.T, r *env, _ *answering, id payment.AttemptID) {
			t.Helper()
			r.over(t, id, time.Now().Add(time.Minute))
		}, fsm.Stale},
		"it can't be asked, and tells": {true, func(t *testing.T, r *env, _ *answering, id payment.AttemptID) {
			t.Helper()
			r.over(t, id, time.Now().Add(time.Minute))
		}, fsm.Stale},
		"it can't be asked, and tells in whole seconds": {true, func(t *testing.T, r *env, _ *answering, id payment.AttemptID) {
			t.Helper()
			r.over(t, id, r.attempt(t, id).Intent.At.Truncate(time.Second))
		}, fsm.Stale},
		"it tells of the first failure": {true, func(t *testing.T, r *env, _ *answering, id payment.AttemptID) {
			t.Helper()
			r.over(t, id, time.Now().Add(-time.Minute))
		}, fsm.Applied},
		"it tells of a failure, and not when": {true, func(t *testing.T, r *env, _ *answering, id payment.AttemptID) {
			t.Helper()
			r.over(t, id, time.Time{})
		}, fsm.Applied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &answering{lookup: says(fsm.EventAuthorized), cancel: says(fsm.EventProcessing)}
			r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider {
				if p.on(of); c.blind {
					return &blind{Provider: p}
				}
				return p
			}})
			id := r.paid(t, "A-1", "tok_decline").ID
			require.Equal(t, fsm.Stale, r.say(t, id, webhooks.KindAuthorized))
			r.recheck(t, id)
			require.EqualValues(t, 1, p.cancels.Load())
			c.end(t, r, p, id)
			require.Equal(t, []fsm.Verdict{c.says}, r.tell(t, cancelRefused(id, "ours")))
			require.Len(t, r.discrepancies(t, id), map[fsm.Verdict]int{fsm.Stale: 0, fsm.Applied: 1}[c.says])
			require.Empty(t, r.verify(t))
		})
	}
}
