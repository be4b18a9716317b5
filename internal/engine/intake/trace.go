package intake

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/tracing"
	"github.com/paylatch/paylatch/webhooks"
)

// applied is the effect of an event on an attempt; the zero value means no effect.
type applied struct {
	attempt payment.AttemptID
	order   payment.OrderID
	account string
	kind    webhooks.Kind
	verdict fsm.Verdict
}

func appliedOf(e payment.StoredEvent) applied {
	return applied{e.AttemptID, e.OrderID, e.Account, e.Event.Kind, e.Verdict}
}

// traced adds an event that was applied to the trace of its attempt.
func (a applied) traced(ctx context.Context, name string, since time.Time, shared tracing.Context) {
	if a.attempt == (payment.AttemptID{}) {
		return
	}
	tracing.Ended(ctx, tracing.Past{
		Name: name, Role: tracing.Consumer, Since: since, Shared: shared, Outcome: string(a.verdict),
		Of: tracing.Of{Attempt: a.attempt, Order: string(a.order), Account: a.account, Kind: string(a.kind)},
	})
}
