package support

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/payment"
)

// Payments is the use cases behind the actions.
type Payments interface {
	AskOnce(ctx context.Context, id payment.AttemptID, cause payment.Cause, every time.Duration) (payment.View, error)
	Askable(a payment.Attempt) bool
	RecheckRefund(ctx context.Context, id payment.RefundID, cause payment.Cause) (payment.Refund, error)
	Replay(ctx context.Context, cmd intake.Replay) (intake.Replayed, error)
}

// Options configure a Service. Store and Payments are required.
type Options struct {
	Store    Store
	Payments Payments
	// Flush writes the activity that this process holds in memory; nil for nothing.
	Flush func(ctx context.Context) error
	// Endpoints are the configured endpoints by name, with the event types that each takes; an empty list means all types.
	Endpoints map[string][]string
	// Provider returns facts about an account's provider; nil if there is none.
	Provider func(account string) Provider
	// Clocks has the shop's time zone; UTC without one.
	Clocks Clocks
}

// Service is the use cases of staff. It is safe for concurrent use.
type Service struct {
	store     Store
	payments  Payments
	flush     func(ctx context.Context) error
	endpoints map[string][]string
	provider  func(account string) Provider
	clocks    Clocks
}

// New returns a service.
func New(o Options) *Service {
	if o.Flush == nil {
		o.Flush = func(context.Context) error { return nil }
	}
	if o.Provider == nil {
		o.Provider = func(string) Provider { return Provider{} }
	}
	return &Service{store: o.Store, payments: o.Payments, flush: o.Flush, endpoints: o.Endpoints, provider: o.Provider, clocks: o.Clocks}
}
