package engine_test

import (
	"context"
	"errors"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// spy is a provider with charges that the test sees and may replace.
type spy struct {
	gateway.Provider

	charge func(ctx context.Context, c gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error)
	can    func(*payment.Capabilities)
	// charges counts the calls to Charge.
	charges atomic.Int32
}

func (p *spy) Capabilities() payment.Capabilities {
	c := p.Provider.Capabilities()
	if p.can != nil {
		p.can(&c)
	}
	return c
}

func (p *spy) Charge(ctx context.Context, c gateway.Charge) (gateway.Outcome, error) {
	p.charges.Add(1)
	send := func() (gateway.Outcome, error) { return p.Provider.Charge(ctx, c) }
	if p.charge == nil {
		return send()
	}
	return p.charge(ctx, c, send)
}

// on puts the spy in front of the provider of an env.
func (p *spy) on(of gateway.Provider) gateway.Provider {
	p.Provider = of
	return p
}

// hanging gives up the charges that the sandbox never answers soon after they were sent. All other calls have the time that a busy
// machine needs.
type hanging struct{ gateway.Provider }

func (h hanging) Charge(ctx context.Context, c gateway.Charge) (gateway.Outcome, error) {
	if !strings.HasPrefix(c.Token, "tok_hang") {
		return h.Provider.Charge(ctx, c)
	}
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	out, err := h.Provider.Charge(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) { time.AfterFunc(time.Second, giveUp) },
	}), c)
	if ctx.Err() != nil {
		err = errors.Join(context.DeadlineExceeded, err)
	}
	return out, err
}

// failing is a store with transactions that may fail.
type failing struct {
	// before and after decide whether a transaction fails, without or with its effect.
	before, after func() error
}

func (f *failing) on(of store) store {
	return spyStore{store: of, around: func(run func() error) error {
		if f.before != nil {
			if err := f.before(); err != nil {
				return err
			}
		}
		err := run()
		if err == nil && f.after != nil {
			err = f.after()
		}
		return err
	}}
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
