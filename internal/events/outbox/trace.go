package outbox

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/platform/tracing"
)

// Trace begins the span of a delivery of an event to an endpoint or a stream, in the trace of the attempt that the event is
// about. An event without an attempt, such as an order's cancel, has its own trace. The payload is read only if traces are on.
func Trace(ctx context.Context, e Event, name, to string) (context.Context, *tracing.Span) {
	if !tracing.On(ctx) {
		return ctx, nil
	}
	var about struct {
		Attempt uuid.UUID `json:"payment_attempt_id"`
	}
	_ = json.Unmarshal(e.Payload, &about) // it is of no attempt then
	return tracing.Begin(ctx, name, tracing.Producer, tracing.Of{Attempt: about.Attempt, Order: e.OrderID, Account: to, Kind: e.Type})
}
