package runner

import "github.com/paylatch/paylatch/internal/tracing"

// about is what the spans of a task are about.
func about(t Task) tracing.Of {
	return tracing.Of{Attempt: t.Attempt.ID, Order: string(t.Attempt.OrderID), Account: t.Attempt.Account, Kind: string(t.Operation.Kind)}
}
