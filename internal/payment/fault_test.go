package payment_test

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/paylatch/paylatch/internal/payment"
)

// tapped is a provider with a hand on the wire.
type tapped struct {
	payment.Provider

	charge func(ctx context.Context, c payment.Charge, send func() (payment.Outcome, error)) (payment.Outcome, error)
	can    func(*payment.Capabilities)
	// charges counts the calls to Charge.
	charges atomic.Int32
}

func (p *tapped) Capabilities() payment.Capabilities {
	c := p.Provider.Capabilities()
	if p.can != nil {
		p.can(&c)
	}
	return c
}

func (p *tapped) Charge(ctx context.Context, c payment.Charge) (payment.Outcome, error) {
	p.charges.Add(1)
	send := func() (payment.Outcome, error) { return p.Provider.Charge(ctx, c) }
	if p.charge == nil {
		return send()
	}
	return p.charge(ctx, c, send)
}

// on puts the provider of a rig behind the tap.
func (p *tapped) on(of payment.Provider) payment.Provider {
	p.Provider = of
	return p
}

// failing is a store whose transactions may fail.
type failing struct {
	payment.Store

	// before and after say whether a transaction fails, without or with its effect.
	before, after func() error
}

func (s *failing) InTx(ctx context.Context, fn func(context.Context, payment.Tx) error) error {
	if s.before != nil {
		if err := s.before(); err != nil {
			return err
		}
	}
	err := s.Store.InTx(ctx, fn)
	if err == nil && s.after != nil {
		err = s.after()
	}
	return err
}

func (s *failing) on(of payment.Store) payment.Store {
	s.Store = of
	return s
}

// race runs functions at once, as near as a barrier brings them.
func race(fns ...func()) {
	barrier := make(chan struct{})
	var all sync.WaitGroup
	for _, fn := range fns {
		all.Go(func() {
			<-barrier
			fn()
		})
	}
	close(barrier)
	all.Wait()
}

// times is one function n times, for race.
func times(n int, fn func(i int)) []func() {
	fns := make([]func(), n)
	for i := range fns {
		fns[i] = func() { fn(i) }
	}
	return fns
}
