package kit

import (
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
)

// Further returns the more advanced outcome of two. The order is: captured money, held money, a payment under way, a
// waiting payment, a failed payment. If both are equal, it returns the first outcome.
func Further(a, b gateway.Outcome) gateway.Outcome {
	if a.ProviderPaymentID+a.Container == "" || stage(b) > stage(a) {
		return b
	}
	return a
}

func stage(o gateway.Outcome) int {
	return slices.Index([]fsm.Event{
		fsm.EventFailed, fsm.EventSoftFailed, fsm.EventActionRequired, fsm.EventProcessing, fsm.EventAuthorized, fsm.EventSucceeded,
	}, o.Event)
}
