package provider_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider"
)

// scripted is a provider whose every call ends as the script says.
type scripted struct {
	gateway.Provider

	mu    sync.Mutex
	err   error
	calls int
	// says and back are its answers about a payment and a refund.
	says gateway.Outcome
	back gateway.RefundOutcome
}

func (s *scripted) next() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return s.err
}

func (s *scripted) Charge(context.Context, gateway.Charge) (gateway.Outcome, error) {
	return s.says, s.next()
}

func (s *scripted) Complete(context.Context, gateway.Completion) (gateway.Outcome, error) {
	return s.says, s.next()
}

func (s *scripted) Lookup(context.Context, string) (gateway.Outcome, error) {
	return s.says, s.next()
}

func (s *scripted) Find(context.Context, payment.AttemptID) (gateway.Outcome, error) {
	return s.says, s.next()
}

func (s *scripted) Capture(context.Context, gateway.Capture) (gateway.Outcome, error) {
	return s.says, s.next()
}

func (s *scripted) Cancel(context.Context, gateway.Cancel) (gateway.Outcome, error) {
	return s.says, s.next()
}

func (s *scripted) Refund(context.Context, gateway.RefundCall) (gateway.RefundOutcome, error) {
	return s.back, s.next()
}

func (s *scripted) LookupRefund(context.Context, gateway.RefundRef) (gateway.RefundOutcome, error) {
	return s.back, s.next()
}

// watched is a guard with what it told.
type watched struct {
	*provider.Guard

	under  *scripted
	mu     sync.Mutex
	called []string
	states []string
}

func guard(l provider.Limits) *watched {
	w := &watched{under: &scripted{}}
	w.Guard = provider.NewGuard(w.under, l, time.Now, func(c provider.Called) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.called = append(w.called, c.Call+" "+c.Result)
	}, func(state string) { w.states = append(w.states, state) })
	return w
}

func (w *watched) each(ctx context.Context) map[string]error {
	errs := map[string]error{}
	_, errs["charge"] = w.Charge(ctx, gateway.Charge{})
	_, errs["lookup"] = w.Lookup(ctx, "x")
	_, errs["find"] = w.Find(ctx, payment.AttemptID{})
	_, errs["capture"] = w.Capture(ctx, gateway.Capture{})
	_, errs["cancel"] = w.Cancel(ctx, gateway.Cancel{})
	_, errs["refund"] = w.Refund(ctx, gateway.RefundCall{})
	_, errs["lookup_refund"] = w.LookupRefund(ctx, gateway.RefundRef{})
	return errs
}

var errTimeout = errors.New("no answer")

func TestAGuardHoldsCallsBackAndSeesThatTheProviderIsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := guard(provider.Limits{Failures: 3, OpenFor: time.Minute})
		w.under.err = errTimeout
		for range 3 {
			_, err := w.Charge(t.Context(), gateway.Charge{})
			require.ErrorIs(t, err, errTimeout)
			require.NotErrorIs(t, err, gateway.ErrNotSent)
		}
		require.InDelta(t, 2, w.State(), 0)
		for call, err := range w.each(t.Context()) {
			require.ErrorIs(t, err, gateway.ErrNotSent, call)
			require.ErrorIs(t, err, gateway.ErrThrottled, call)
		}
		require.Equal(t, 3, w.under.calls, "the provider is left alone")

		time.Sleep(time.Minute + time.Millisecond)
		require.InDelta(t, 1, w.State(), 0)
		_, err := w.Lookup(t.Context(), "x")
		require.ErrorIs(t, err, errTimeout, "one is let through to see")
		_, err = w.Lookup(t.Context(), "x")
		require.ErrorIs(t, err, gateway.ErrThrottled)

		time.Sleep(time.Minute + time.Millisecond)
		w.under.err = gateway.ErrNoSuchPayment
		_, err = w.Lookup(t.Context(), "x")
		require.ErrorIs(t, err, gateway.ErrNoSuchPayment, "an answer, too")
		w.under.err = nil
		for call, err := range w.each(t.Context()) {
			require.NoError(t, err, call)
		}
		require.Equal(t, []string{"open", "half-open", "open", "half-open", "closed"}, w.states)
		require.Equal(t, []string{"charge failed", "charge failed", "charge failed", "charge held_back"}, w.called[:4])
		require.Equal(t, "lookup_refund answered", w.called[len(w.called)-1])
	})
}

func TestWhatIsNoFailureOfTheProviders(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"a decline":       nil,
		"no such payment": gateway.ErrNoSuchPayment,
		"an ended permit": fmt.Errorf("%w: %w", gateway.ErrNotSent, gateway.ErrPermitEnded),
		"a caller left":   context.Canceled,
		"not offered":     gateway.ErrUnsupported,
		"a strange token": fmt.Errorf("%w: no token", gateway.ErrUnsupportedRequest),
		"does not tell":   fmt.Errorf("%w: which refund", gateway.ErrInconclusive),
	} {
		w := guard(provider.Limits{Failures: 1, OpenFor: time.Minute})
		w.under.err = err
		for range 5 {
			_, got := w.Charge(t.Context(), gateway.Charge{})
			require.Equal(t, err, got, name)
		}
		require.Zero(t, w.State(), name)
	}
}

// An answer whose names no database takes can't be read: what became of the call is
// not known. A code that nothing hangs on is no reason for that.
func TestAnAnswerThatCanNotBeKeptIsNoAnswer(t *testing.T) {
	t.Parallel()
	euro, none := &payment.Money{Currency: "EUR"}, &payment.Money{Currency: "E\x00R"}
	for name, c := range map[string]struct {
		says gateway.Outcome
		back gateway.RefundOutcome
	}{
		"a NUL in a name":        {gateway.Outcome{ProviderPaymentID: "ch_\x00"}, gateway.RefundOutcome{ProviderRefundID: "re_\x00"}},
		"a name that is no text": {gateway.Outcome{ProviderPaymentID: "ch_\xff"}, gateway.RefundOutcome{ProviderRefundID: "re_\xff"}},
		"a name without end":     {gateway.Outcome{ProviderPaymentID: strings.Repeat("x", 513)}, gateway.RefundOutcome{Reference: strings.Repeat("x", 513)}},
		"another name":           {gateway.Outcome{References: []string{"ch_1", "pi_\x00"}}, gateway.RefundOutcome{Reference: "\x00"}},
		"an address":             {gateway.Outcome{NextAction: payment.Redirect("https://a.example/\x00")}, gateway.RefundOutcome{Reference: "\x00"}},
		"a currency":             {gateway.Outcome{Money: none}, gateway.RefundOutcome{Money: none}},
		"a movement's name":      {gateway.Outcome{Money: euro, Movements: []payment.MovementReport{{ID: "chb_\x00", Money: *euro}}}, gateway.RefundOutcome{Money: none}},
		"a currency taken back":  {gateway.Outcome{Money: euro, Movements: []payment.MovementReport{{Money: *none}}}, gateway.RefundOutcome{Money: none}},
	} {
		w := guard(provider.Limits{})
		w.under.says, w.under.back = c.says, c.back
		for call, err := range w.each(t.Context()) {
			require.Error(t, err, "%s: %s", name, call)
			require.NotErrorIs(t, err, gateway.ErrNotSent)
			require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
		}
		require.Contains(t, w.called, "charge failed")
	}
	w := guard(provider.Limits{})
	odd := payment.NewFailure("card_declined", "\x00\xff")
	w.under.says = gateway.Outcome{Event: fsm.EventFailed, ProviderPaymentID: "ch_1", References: []string{"pi_1"}, Money: euro, Failure: odd}
	w.under.back = gateway.RefundOutcome{Event: fsm.EventFailed, ProviderRefundID: "re_1", Money: euro, Failure: odd}
	out, err := w.Charge(t.Context(), gateway.Charge{})
	require.NoError(t, err)
	want := w.under.says
	want.Failure = payment.NewFailure("card_declined", "\uFFFD\uFFFD")
	require.Equal(t, want, out)
	back, err := w.Refund(t.Context(), gateway.RefundCall{})
	require.NoError(t, err)
	require.Equal(t, want.Failure, back.Failure)
	require.Equal(t, "re_1", back.ProviderRefundID)
}

// Nobody was called, so that nothing is said of calls; what was answered without
// telling is an answer.
func TestWhatIsNoCallIsNotCounted(t *testing.T) {
	t.Parallel()
	w := guard(provider.Limits{Failures: 1, OpenFor: time.Minute})
	for _, err := range []error{gateway.ErrUnsupported, gateway.ErrUnsupportedRequest, gateway.ErrInconclusive} {
		w.under.err = err
		w.each(t.Context())
	}
	require.Len(t, w.called, 7, "those of the last")
	require.Contains(t, w.called, "lookup_refund answered")
}

// A refused connection is the provider's failure, though nothing was sent.
func TestWhatCouldNotBeSentIsAFailure(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, gateway.ErrUnsupportedRequest, gateway.ErrNotSent)
	w := guard(provider.Limits{Failures: 2, OpenFor: time.Minute})
	w.under.err = fmt.Errorf("%w: connection refused", gateway.ErrNotSent)
	for range 2 {
		_, _ = w.Charge(t.Context(), gateway.Charge{})
	}
	require.InDelta(t, 2, w.State(), 0)
	require.Equal(t, []string{"charge failed", "charge failed"}, w.called)
}

// The one that is let through to see may turn out to be no call: then the next one
// sees.
func TestWhatIsNoCallDoesNotTellThatTheProviderIsBack(t *testing.T) {
	t.Parallel()
	for _, none := range []error{gateway.ErrUnsupported, gateway.ErrUnsupportedRequest} {
		synctest.Test(t, func(t *testing.T) {
			w := guard(provider.Limits{Failures: 1, OpenFor: time.Minute})
			w.under.err = errTimeout
			_, _ = w.Charge(t.Context(), gateway.Charge{})
			time.Sleep(time.Minute + time.Millisecond)
			w.under.err = none
			for range 3 {
				_, err := w.Lookup(t.Context(), "x")
				require.ErrorIs(t, err, none)
				require.InDelta(t, 1, w.State(), 0)
			}
			w.under.err = nil
			_, err := w.Lookup(t.Context(), "x")
			require.NoError(t, err)
			require.Zero(t, w.State())
		})
	}
}

func TestAFailureInBetweenIsForgotten(t *testing.T) {
	t.Parallel()
	w := guard(provider.Limits{Failures: 2, OpenFor: time.Minute})
	for i := range 10 {
		w.under.err = nil
		if i%2 == 0 {
			w.under.err = errTimeout
		}
		_, _ = w.Lookup(t.Context(), "x")
	}
	require.Equal(t, 10, w.under.calls)
}

func TestAGuardWithoutLimitsLetsEverythingThrough(t *testing.T) {
	t.Parallel()
	w := guard(provider.Limits{})
	w.under.err = errTimeout
	for range 100 {
		_, err := w.Charge(t.Context(), gateway.Charge{})
		require.ErrorIs(t, err, errTimeout)
	}
	require.Equal(t, 100, w.under.calls)
}

func TestARateLimitSpreadsCallsAndThenHoldsThemBack(t *testing.T) {
	t.Parallel()
	for burst, made := range map[int]int{20: 30, 2: 12, 0: 20} {
		synctest.Test(t, func(t *testing.T) {
			w := guard(provider.Limits{Failures: 1, OpenFor: time.Minute, PerSecond: 10, Burst: burst})
			began := time.Now()
			var all sync.WaitGroup
			var mu sync.Mutex
			held := 0
			for range 50 {
				all.Go(func() {
					_, err := w.Charge(t.Context(), gateway.Charge{})
					mu.Lock()
					defer mu.Unlock()
					if errors.Is(err, gateway.ErrThrottled) {
						held++
					}
				})
			}
			all.Wait()
			require.Equal(t, made, w.under.calls, "the burst at once, ten in the second that a call waits")
			require.Equal(t, 50-made, held)
			require.Equal(t, time.Second, time.Since(began))
			require.Zero(t, w.State(), "too many calls are no failure of the provider's")
		})
	}
}

// TestLookupsLeaveAReserve: however many lookups are wanted, of whatever sort, each call that moves money is made, and some lookups are.
func TestLookupsLeaveAReserve(t *testing.T) {
	t.Parallel()
	lookups := []func(*watched, context.Context){
		func(w *watched, ctx context.Context) { _, _ = w.Lookup(ctx, "p") },
		func(w *watched, ctx context.Context) { _, _ = w.Find(ctx, payment.AttemptID{1}) },
		func(w *watched, ctx context.Context) { _, _ = w.LookupRefund(ctx, gateway.RefundRef{}) },
	}
	synctest.Test(t, func(t *testing.T) {
		w := guard(provider.Limits{PerSecond: 10})
		ctx, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for i := range 30 {
			all.Go(func() {
				for ctx.Err() == nil {
					lookups[i%3](w, ctx)
					time.Sleep(20 * time.Millisecond)
				}
			})
		}
		for range 10 {
			time.Sleep(time.Second)
			for name, err := range map[string]error{
				"charge": second(w.Charge(ctx, gateway.Charge{})), "complete": second(w.Complete(ctx, gateway.Completion{})),
				"capture": second(w.Capture(ctx, gateway.Capture{})), "cancel": second(w.Cancel(ctx, gateway.Cancel{})),
				"refund": second(w.Refund(ctx, gateway.RefundCall{})),
			} {
				require.NoError(t, err, name)
			}
		}
		stop()
		all.Wait()
		require.Greater(t, w.under.calls, 50+10, "lookups are made as well")
	})
}

func second[T any](_ T, err error) error { return err }

// A panic in an adapter is an answer that nobody could read: the outcome is unknown, never
// "not sent", and the next call is made.
func TestPanicIsOneItems(t *testing.T) {
	t.Parallel()
	under := &scripted{}
	var calls []provider.Called
	g := provider.NewGuard(panicking{under}, provider.Limits{}, time.Now, func(c provider.Called) { calls = append(calls, c) }, func(string) {})
	_, err := g.Charge(t.Context(), gateway.Charge{})
	require.ErrorContains(t, err, "while it reads")
	require.NotErrorIs(t, err, gateway.ErrNotSent)
	_, err = g.Lookup(t.Context(), "x")
	require.NoError(t, err)
	require.Len(t, calls, 2)
	require.Equal(t, "failed", calls[0].Result)
	require.NotNil(t, calls[0].Panic, "for the log")
	require.Nil(t, calls[1].Panic)
}

// panicking is a provider one of whose calls panics.
type panicking struct {
	gateway.Provider
}

func (panicking) Charge(context.Context, gateway.Charge) (gateway.Outcome, error) {
	panic("while it reads")
}

func (*scripted) TokenKind(string) gateway.TokenKind { return gateway.TokenSingleUse }

func (*scripted) Unseen(gateway.Details) (time.Duration, bool) { return 0, false }

func (*scripted) CheckOwner(context.Context, string, string) error { return nil }
