package kit

import (
	"context"

	"github.com/paylatch/paylatch/internal/gateway"
)

// OneStep is embedded by adapters without a second step.
type OneStep struct{}

// Complete implements gateway.Provider.
func (OneStep) Complete(context.Context, gateway.Completion) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}
