package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/sony/gobreaker/v2"
	"golang.org/x/time/rate"

	"github.com/paylatch/paylatch/internal/payment"
)

// limitPatience is how long a call waits for its turn under a rate limit.
const limitPatience = time.Second

// Limits say how much an account's provider is called. The zero value limits
// nothing.
type Limits struct {
	// Failures is how many calls in a row must fail until calls are held back; 0
	// never. A decline, a refusal and "no such payment" are answers, not failures,
	// and what can't be sent to this provider is no call.
	Failures int
	// OpenFor is how long they are held back until one is let through to see.
	OpenFor time.Duration
	// PerSecond is how many calls are made in a second, 0 any number; Burst how many
	// at once, 0 as many as in a second.
	PerSecond, Burst int
}

// Called is a call that was made, or was to be made.
type Called struct {
	// Call is check_owner, charge, lookup, find, capture, cancel, refund or lookup_refund.
	Call string
	// Result is answered, failed or held_back.
	Result string
	Took   time.Duration
	// Panic is what the adapter threw; nil if it did not.
	Panic *payment.PanicError
}

// Guard spares a provider that fails or is called too much: calls are held back,
// which is [payment.ErrNotSent] with [payment.ErrHeldBack]. A first charge has
// then not started, whatever was sent before stays as it is known, and the
// reconciler's next question finds out whether the provider is back.
type Guard struct {
	payment.Provider

	breaker *gobreaker.CircuitBreaker[struct{}]
	limit   *rate.Limiter
	observe func(Called)
	now     func() time.Time
}

// NewGuard puts a guard before the provider of an account; observe is told of
// each call that was made or held back, which now times, and changed of each
// change of state.
func NewGuard(p payment.Provider, l Limits, now func() time.Time, observe func(Called), changed func(state string)) *Guard {
	g := &Guard{Provider: p, observe: observe, now: now}
	if l.PerSecond > 0 {
		g.limit = rate.NewLimiter(rate.Limit(l.PerSecond), cmp.Or(l.Burst, l.PerSecond))
	}
	g.breaker = gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		MaxRequests: 1, Timeout: l.OpenFor, IsSuccessful: answered, IsExcluded: ours,
		ReadyToTrip: func(c gobreaker.Counts) bool {
			return l.Failures > 0 && c.ConsecutiveFailures >= uint32(l.Failures) //nolint:gosec // a small number
		},
		OnStateChange: func(_ string, _, to gobreaker.State) { changed(to.String()) },
	})
	return g
}

// State is 0 while calls are let through, 1 while one is let through to see, 2
// while all are held back.
func (g *Guard) State() float64 { return float64(g.breaker.State()) }

// answered reports whether the provider did its part.
func answered(err error) bool {
	return err == nil || errors.Is(err, payment.ErrMethodNotYours) || errors.Is(err, payment.ErrNoSuchPayment) || errors.Is(err, payment.ErrNotTold)
}

// ours are failures that say nothing of the provider.
func ours(err error) bool {
	return unmade(err) || errors.Is(err, payment.ErrLicenceEnded) || errors.Is(err, context.Canceled)
}

// unmade reports whether there was no call to make.
func unmade(err error) bool {
	return errors.Is(err, payment.ErrUnsupported) || errors.Is(err, payment.ErrUnfit)
}

// guarded makes one call, or holds it back. An answer that can't be kept can't be read.
func guarded[T interface{ Readable() (T, error) }](ctx context.Context, g *Guard, name string, do func() (T, error)) (T, error) {
	var out T
	began := g.now()
	sent := false
	var thrown *payment.PanicError
	_, err := g.breaker.Execute(func() (_ struct{}, err error) {
		if err := g.turn(ctx); err != nil {
			return struct{}{}, err
		}
		sent = true
		// An adapter that panics while it reads an answer has learnt nothing: the outcome is unknown.
		defer func() {
			if value := recover(); value != nil {
				thrown = &payment.PanicError{Value: value, Stack: debug.Stack()}
				err = thrown
			}
		}()
		if out, err = do(); err == nil {
			out, err = out.Readable()
		}
		return struct{}{}, err
	})
	called := Called{Call: name, Result: "answered", Took: g.now().Sub(began), Panic: thrown}
	switch {
	case !sent:
		called.Result = "held_back"
		err = fmt.Errorf("%w: %w: %w", payment.ErrNotSent, payment.ErrHeldBack, err)
	case unmade(err):
		return out, err
	case !answered(err):
		called.Result = "failed"
	}
	g.observe(called)
	return out, err
}

// turn waits for the rate limit, for a moment. Not to get a turn is no failure of
// the provider's.
func (g *Guard) turn(ctx context.Context) error {
	if g.limit == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, limitPatience)
	defer cancel()
	if err := g.limit.Wait(ctx); err != nil {
		return fmt.Errorf("%w: rate limit: %s", context.Canceled, err.Error())
	}
	return nil
}

// CheckOwner implements payment.Provider.
func (g *Guard) CheckOwner(ctx context.Context, token, customer string) error {
	_, err := guarded(ctx, g, "check_owner", func() (nothing, error) { return nothing{}, g.Provider.CheckOwner(ctx, token, customer) })
	return err
}

// nothing is what a call answers that tells by its error.
type nothing struct{}

// Readable has nothing that could not be kept.
func (n nothing) Readable() (nothing, error) { return n, nil }

// Charge implements payment.Provider.
func (g *Guard) Charge(ctx context.Context, c payment.Charge) (payment.Outcome, error) {
	return guarded(ctx, g, "charge", func() (payment.Outcome, error) { return g.Provider.Charge(ctx, c) })
}

// Lookup implements payment.Provider.
func (g *Guard) Lookup(ctx context.Context, id string) (payment.Outcome, error) {
	return guarded(ctx, g, "lookup", func() (payment.Outcome, error) { return g.Provider.Lookup(ctx, id) })
}

// Find implements payment.Provider.
func (g *Guard) Find(ctx context.Context, id payment.AttemptID) (payment.Outcome, error) {
	return guarded(ctx, g, "find", func() (payment.Outcome, error) { return g.Provider.Find(ctx, id) })
}

// Capture implements payment.Provider.
func (g *Guard) Capture(ctx context.Context, c payment.Capture) (payment.Outcome, error) {
	return guarded(ctx, g, "capture", func() (payment.Outcome, error) { return g.Provider.Capture(ctx, c) })
}

// Cancel implements payment.Provider.
func (g *Guard) Cancel(ctx context.Context, c payment.Cancel) (payment.Outcome, error) {
	return guarded(ctx, g, "cancel", func() (payment.Outcome, error) { return g.Provider.Cancel(ctx, c) })
}

// Refund implements payment.Provider.
func (g *Guard) Refund(ctx context.Context, r payment.RefundCall) (payment.RefundOutcome, error) {
	return guarded(ctx, g, "refund", func() (payment.RefundOutcome, error) { return g.Provider.Refund(ctx, r) })
}

// LookupRefund implements payment.Provider.
func (g *Guard) LookupRefund(ctx context.Context, r payment.RefundRef) (payment.RefundOutcome, error) {
	return guarded(ctx, g, "lookup_refund", func() (payment.RefundOutcome, error) { return g.Provider.LookupRefund(ctx, r) })
}
