package call

import (
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
)

// Further returns the outcome of the payment that has come further of two: money that was captured before money that is
// held, what is under way before what waits, and what has failed last. Of two that have come equally far it is the first.
func Further(a, b gateway.Outcome) gateway.Outcome {
	if a.ProviderPaymentID+a.Container == "" || stage(b) > stage(a) {
		return b
	}
	return a
}

func stage(o gateway.Outcome) int {
	return slices.Index([]fsm.News{
		fsm.NewsFailed, fsm.NewsSoftFailed, fsm.NewsActionRequired, fsm.NewsProcessing, fsm.NewsAuthorized, fsm.NewsSucceeded,
	}, o.News)
}
