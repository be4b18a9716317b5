package payment_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// lenient declines softly: the same payment could still succeed there.
type lenient struct {
	payment.Provider

	refuses bool
}

func (p lenient) Charge(ctx context.Context, c payment.Charge) (payment.Outcome, error) {
	out, err := p.Provider.Charge(ctx, c)
	out.News, out.Failure = fsm.NewsSoftFailed, payment.NewFailure("insufficient_funds", "51")
	return out, err
}

func (p lenient) Cancel(ctx context.Context, c payment.Cancel) (payment.Outcome, error) {
	if p.refuses {
		return payment.Outcome{}, context.DeadlineExceeded
	}
	return p.Provider.Cancel(ctx, c)
}

// A soft decline is sealed by a cancel before the person is told, and by the
// reconciler if that did not go through.
func TestASoftDeclineIsSealed(t *testing.T) {
	t.Parallel()
	for _, refuses := range []bool{false, true} {
		var inner payment.Provider
		r := newRig(t, setup{silent: true, provider: func(p payment.Provider) payment.Provider {
			inner = p
			return lenient{p, refuses}
		}})
		p := r.paid(t, "A-1", "tok_never")
		if refuses {
			require.Equal(t, fsm.StatusPending, p.State.Status())
			opts := r.opts
			opts.Accounts = map[string]payment.Account{"sandbox": {Provider: inner}}
			_, err := payment.New(opts).Recheck(t.Context(), p.ID, payment.Cause{Kind: payment.CauseCheck})
			require.NoError(t, err)
		}
		a := r.attempt(t, p.ID)
		require.Equal(t, fsm.Failed, a.State)
		require.Equal(t, "insufficient_funds", a.Failure.Code)
		require.Zero(t, a.Captured)
	}
}
