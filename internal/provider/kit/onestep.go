package kit

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
)

// OneStep is embedded by adapters without a second step.
type OneStep struct{}

// Complete implements gateway.Provider.
func (OneStep) Complete(context.Context, gateway.Completion) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}

// TakesAtOnce is embedded by adapters whose charges may take money without a page of the provider.
type TakesAtOnce struct{}

// Unseen implements gateway.Provider.
func (TakesAtOnce) Unseen(gateway.Details) (payable time.Duration, ends bool) { return 0, false }
