package runner

import "github.com/paylatch/paylatch/internal/platform/tracing"

// about is the subject of a task's spans.
func about(t Task) tracing.Of {
	return tracing.Of{Attempt: t.Attempt.ID, Order: string(t.Attempt.OrderID), Account: t.Attempt.Account, Kind: string(t.Operation.Kind)}
}
