package engine_test

import (
	"context"
	"sync"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// till is a provider that has payments by their ids, and records its calls.
type till struct {
	gateway.Provider

	can func(*payment.Capabilities)
	// done is called with each call that moves money; nil for nothing.
	done func(call string)

	mu     sync.Mutex
	stands map[string]gateway.Outcome
	calls  []string
}

// newTill is a till with payments of these outcomes.
func newTill(stands map[string]gateway.Outcome) *till {
	all := map[string]gateway.Outcome{}
	for id, out := range stands {
		out.ProviderPaymentID = id
		all[id] = out
	}
	return &till{stands: all}
}

func (p *till) on(of gateway.Provider) gateway.Provider {
	p.Provider = of
	return p
}

// stand sets the outcome that the till reports for a payment from now on.
func (p *till) stand(id string, out gateway.Outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	out.ProviderPaymentID = id
	p.stands[id] = out
}

func (p *till) called(call, id string, out *gateway.Outcome) (gateway.Outcome, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, call+" "+id)
	if _, known := p.stands[id]; !known {
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	}
	if out != nil {
		out.ProviderPaymentID = id
		p.stands[id] = *out
		if p.done != nil {
			p.done(call + " " + id)
		}
	}
	return p.stands[id], nil
}

// asked returns the calls since the last call of asked.
func (p *till) asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	calls := p.calls
	p.calls = nil
	return calls
}

func (p *till) Capabilities() payment.Capabilities {
	c := p.Provider.Capabilities()
	if p.can != nil {
		p.can(&c)
	}
	return c
}

func (p *till) Lookup(_ context.Context, id string) (gateway.Outcome, error) {
	return p.called("lookup", id, nil)
}

func (p *till) Find(context.Context, payment.AttemptID) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrNoSuchPayment
}

func (p *till) Capture(_ context.Context, c gateway.Capture) (gateway.Outcome, error) {
	return p.called("capture", c.ProviderPaymentID, &gateway.Outcome{Event: fsm.EventSucceeded, Money: &c.Money})
}

func (p *till) Cancel(_ context.Context, c gateway.Cancel) (gateway.Outcome, error) {
	return p.called("cancel", c.ProviderPaymentID, &gateway.Outcome{Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "")})
}

func (p *till) Refund(_ context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	_, err := p.called("refund", r.ProviderPaymentID, nil)
	return gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: "re_" + r.Refund.String(), Money: &r.Money}, err
}

func (p *till) LookupRefund(_ context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	_, err := p.called("lookup refund", r.ProviderPaymentID, nil)
	return gateway.RefundOutcome{Event: fsm.EventProcessing}, err
}

func ofEuros(says fsm.Event, minor int64) gateway.Outcome {
	return gateway.Outcome{Event: says, Money: &payment.Money{Minor: minor, Currency: "EUR"}}
}
