package call

import (
	"context"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// LookupOnly is embedded by adapters that only look payments up. Every other call returns
// gateway.ErrUnsupported.
type LookupOnly struct{ OneStep }

// TokenKind implements gateway.Provider: no token is ever charged.
func (LookupOnly) TokenKind(string) gateway.TokenKind { return gateway.TokenSingleUse }

// CheckOwner implements gateway.Provider.
func (LookupOnly) CheckOwner(context.Context, string, string) error { return gateway.ErrUnsupported }

// Charge implements gateway.Provider.
func (LookupOnly) Charge(context.Context, gateway.Charge) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}

// Accepts implements gateway.Provider.
func (LookupOnly) Accepts(gateway.Charge) error { return nil }

// Find implements gateway.Provider.
func (LookupOnly) Find(context.Context, payment.AttemptID) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}

// Capture implements gateway.Provider.
func (LookupOnly) Capture(context.Context, gateway.Capture) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}

// Cancel implements gateway.Provider.
func (LookupOnly) Cancel(context.Context, gateway.Cancel) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}

// Refund implements gateway.Provider.
func (LookupOnly) Refund(context.Context, gateway.RefundCall) (gateway.RefundOutcome, error) {
	return gateway.RefundOutcome{}, gateway.ErrUnsupported
}

// LookupRefund implements gateway.Provider.
func (LookupOnly) LookupRefund(context.Context, gateway.RefundRef) (gateway.RefundOutcome, error) {
	return gateway.RefundOutcome{}, gateway.ErrUnsupported
}
