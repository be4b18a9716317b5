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

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// limitPatience bounds how long a call waits for the rate limiter.
const limitPatience = time.Second

// Limits configure the breaker and rate limiter of an account. The zero value limits nothing.
type Limits struct {
	// Failures is how many consecutive calls must fail to open the breaker; 0 never opens it. A decline, a refusal and
	// "no such payment" are results, not failures, and a request that can't be sent to this provider is no call.
	Failures int
	// OpenFor is how long the breaker stays open before it lets one call through.
	OpenFor time.Duration
	// PerSecond is the rate limit in calls per second, 0 for none; Burst is its burst, 0 for PerSecond. Lookups take at most half of both.
	PerSecond, Burst int
}

// Called describes a call that was made or held back.
type Called struct {
	// Call is check_owner, charge, complete, lookup, find, capture, cancel, refund or lookup_refund.
	Call string
	// Result is answered, failed or held_back.
	Result string
	Took   time.Duration
	// Panic is the adapter's panic, or nil.
	Panic *payment.PanicError
}

// Guard is a circuit breaker and a rate limiter before a provider. A call that it holds back returns
// [gateway.ErrNotSent] with [gateway.ErrThrottled]: a first charge has then not started, the state of any earlier call
// stays as recorded, and the reconciler's next lookup tests the provider again.
type Guard struct {
	gateway.Provider

	breaker *gobreaker.CircuitBreaker[struct{}]
	// limit is for all calls; lookups go through theirs first, which has half the rate: strangers may cause lookups, and the rest is a
	// reserve for what moves money.
	limit, lookups *rate.Limiter
	observe        func(Called)
	now            func() time.Time
	// first is called before each call, and an error stops the call; if first is nil, nothing is checked.
	first func(ctx context.Context) error
}

// After returns the same guard; its calls wait until first returns nil.
func (g *Guard) After(first func(ctx context.Context) error) *Guard {
	later := *g
	later.first = first
	return &later
}

// NewGuard wraps the provider of an account. It calls observe after each call that was made or held back, timed by now,
// and changed after each state change of the breaker.
func NewGuard(p gateway.Provider, l Limits, now func() time.Time, observe func(Called), changed func(state string)) *Guard {
	g := &Guard{Provider: p, observe: observe, now: now}
	if l.PerSecond > 0 {
		burst := cmp.Or(l.Burst, l.PerSecond)
		g.limit = rate.NewLimiter(rate.Limit(l.PerSecond), burst)
		g.lookups = rate.NewLimiter(rate.Limit(l.PerSecond)/2, max(1, burst/2))
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

// State returns 0 while the breaker is closed, 1 while it is half-open and 2 while it is open.
func (g *Guard) State() float64 { return float64(g.breaker.State()) }

// answered reports whether err is nil or a result.
func answered(err error) bool {
	return err == nil || errors.Is(err, payment.ErrMethodNotYours) || errors.Is(err, gateway.ErrNoSuchPayment) || errors.Is(err, gateway.ErrInconclusive)
}

// ours reports whether a failure is independent of the provider.
func ours(err error) bool {
	return unmade(err) || errors.Is(err, gateway.ErrPermitEnded) || errors.Is(err, context.Canceled)
}

// unmade reports whether there was no call to make.
func unmade(err error) bool {
	return errors.Is(err, gateway.ErrUnsupported) || errors.Is(err, gateway.ErrUnsupportedRequest)
}

// guarded makes one call, or holds it back. A result that can't be stored is an error.
func guarded[T interface{ Readable() (T, error) }](ctx context.Context, g *Guard, name string, do func() (T, error)) (T, error) {
	var out T
	began := g.now()
	sent := false
	var thrown *payment.PanicError
	_, err := g.breaker.Execute(func() (_ struct{}, err error) {
		if err := g.turn(ctx, name); err != nil {
			return struct{}{}, err
		}
		sent = true
		// The outcome of a call with a panic in the adapter is unknown.
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
		err = fmt.Errorf("%w: %w: %w", gateway.ErrNotSent, gateway.ErrThrottled, err)
	case unmade(err):
		return out, err
	case !answered(err):
		called.Result = "failed"
	}
	g.observe(called)
	return out, err
}

// turn waits for the rate limiter, up to limitPatience. A timeout is not a failure of the provider.
func (g *Guard) turn(ctx context.Context, call string) error {
	if g.first != nil {
		if err := g.first(ctx); err != nil {
			return err
		}
	}
	if g.limit == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, limitPatience)
	defer cancel()
	limits := []*rate.Limiter{g.limit}
	if call == lookup || call == find || call == lookupRefund {
		limits = []*rate.Limiter{g.lookups, g.limit}
	}
	for _, limit := range limits {
		if err := limit.Wait(ctx); err != nil {
			return fmt.Errorf("%w: rate limit: %s", context.Canceled, err.Error())
		}
	}
	return nil
}

// The calls that only look.
const (
	lookup       = "lookup"
	find         = "find"
	lookupRefund = "lookup_refund"
)

// CheckOwner implements gateway.Provider.
func (g *Guard) CheckOwner(ctx context.Context, token, customer string) error {
	_, err := guarded(ctx, g, "check_owner", func() (nothing, error) { return nothing{}, g.Provider.CheckOwner(ctx, token, customer) })
	return err
}

// nothing is the result of a call that returns only an error.
type nothing struct{}

// Readable always succeeds.
func (n nothing) Readable() (nothing, error) { return n, nil }

// Charge implements gateway.Provider.
func (g *Guard) Charge(ctx context.Context, c gateway.Charge) (gateway.Outcome, error) {
	return guarded(ctx, g, "charge", func() (gateway.Outcome, error) { return g.Provider.Charge(ctx, c) })
}

// Complete implements gateway.Provider.
func (g *Guard) Complete(ctx context.Context, c gateway.Completion) (gateway.Outcome, error) {
	return guarded(ctx, g, "complete", func() (gateway.Outcome, error) { return g.Provider.Complete(ctx, c) })
}

// Lookup implements gateway.Provider.
func (g *Guard) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	return guarded(ctx, g, lookup, func() (gateway.Outcome, error) { return g.Provider.Lookup(ctx, id) })
}

// Find implements gateway.Provider.
func (g *Guard) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	return guarded(ctx, g, find, func() (gateway.Outcome, error) { return g.Provider.Find(ctx, id) })
}

// Capture implements gateway.Provider.
func (g *Guard) Capture(ctx context.Context, c gateway.Capture) (gateway.Outcome, error) {
	return guarded(ctx, g, "capture", func() (gateway.Outcome, error) { return g.Provider.Capture(ctx, c) })
}

// Cancel implements gateway.Provider.
func (g *Guard) Cancel(ctx context.Context, c gateway.Cancel) (gateway.Outcome, error) {
	return guarded(ctx, g, "cancel", func() (gateway.Outcome, error) { return g.Provider.Cancel(ctx, c) })
}

// Refund implements gateway.Provider.
func (g *Guard) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	return guarded(ctx, g, "refund", func() (gateway.RefundOutcome, error) { return g.Provider.Refund(ctx, r) })
}

// LookupRefund implements gateway.Provider.
func (g *Guard) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	return guarded(ctx, g, lookupRefund, func() (gateway.RefundOutcome, error) { return g.Provider.LookupRefund(ctx, r) })
}
