package engine_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestSoftDecline(t *testing.T) {
	t.Parallel()
	t.Run("cancelled_before_the_response", softDeclineCancelledBeforeTheResponse)
	t.Run("cancelled_before_it_fails", softDeclineCancelledBeforeItFails)
	t.Run("overtaken_by_the_success", softDeclineOvertakenByTheSuccess)
}

// lenient declines softly: the same payment could still succeed there.
type lenient struct {
	gateway.Provider

	refuses bool
}

func (p lenient) Charge(ctx context.Context, c gateway.Charge) (gateway.Outcome, error) {
	out, err := p.Provider.Charge(ctx, c)
	out.Event, out.Failure = fsm.EventSoftFailed, payment.NewFailure("insufficient_funds", "51")
	return out, err
}

func (p lenient) Cancel(ctx context.Context, c gateway.Cancel) (gateway.Outcome, error) {
	if p.refuses {
		return gateway.Outcome{}, context.DeadlineExceeded
	}
	return p.Provider.Cancel(ctx, c)
}

// A cancel follows a soft decline before the response. If it did not go through, the reconciler sends another one.
func softDeclineCancelledBeforeTheResponse(t *testing.T) {
	t.Parallel()
	for _, refuses := range []bool{false, true} {
		var inner gateway.Provider
		r := newEnv(t, setup{silent: true, provider: func(p gateway.Provider) gateway.Provider {
			inner = p
			return lenient{p, refuses}
		}})
		p := r.paid(t, "A-1", "tok_never")
		if refuses {
			require.Equal(t, fsm.StatusPending, p.State.Status())
			opts := r.opts
			opts.Accounts = map[string]gateway.Account{"sandbox": {Provider: inner}}
			_, err := newService(opts).Recheck(t.Context(), p.ID, payment.Cause{Kind: payment.CauseCheck})
			require.NoError(t, err)
		}
		a := r.attempt(t, p.ID)
		require.Equal(t, fsm.Failed, a.State)
		require.Equal(t, "insufficient_funds", a.Failure.Code)
		require.Zero(t, a.Captured)
	}
}

// A provider reports "failed" and later "captured" about the same payment: the first was soft
// (komoju-woocommerce #21). The attempt fails once the payment can no longer succeed there.
func softDeclineCancelledBeforeItFails(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	p := r.paid(t, "A-1", "tok_never")
	soft := event(webhooks.KindSoftFailed, p.ID.String())
	soft.FailureCode = "insufficient_funds"
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, soft))
	require.Equal(t, fsm.Repeat, r.say(t, p.ID, webhooks.KindSoftFailed))
	require.Equal(t, "pending", standingOf(r.attempt(t, p.ID).Attempt).status)
	require.Equal(t, p.Version, r.attempt(t, p.ID).Version, "nothing that the version counts has changed")
	due, err := r.Due(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, []payment.AttemptID{p.ID}, due, "at once")
	v := r.recheck(t, p.ID)
	require.Equal(t, standing{"failed", "final", "insufficient_funds"}, standingOf(v.Attempt), "the reason that counts is the first")
	require.True(t, v.CanStartNew)
}

func softDeclineOvertakenByTheSuccess(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	p := r.paid(t, "A-1", "tok_async_success")
	require.Equal(t, fsm.Applied, r.say(t, p.ID, webhooks.KindSoftFailed))
	require.Eventually(t, func() bool { return len(r.ledger(t)) == 1 }, waitFor, tick)
	require.Equal(t, succeeded, standingOf(r.recheck(t, p.ID).Attempt), "the cancel is refused, and how it stands is adopted")
	require.Empty(t, r.attempt(t, p.ID).Intent.Kind)
	r.audit(t, "A-1")
}
