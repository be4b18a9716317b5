package engine_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestEarly(t *testing.T) {
	t.Parallel()
	t.Run("stored_with_its_payment", earlyStoredWithItsPayment)
	t.Run("looked_up_after_a_lost_response", earlyLookedUpAfterALostResponse)
	t.Run("looked_up_again_after_a_failure", earlyLookedUpAgainAfterAFailure)
	t.Run("stored_without_an_answer", earlyStoredWithoutAnAnswer)
	t.Run("limits", earlyLimits)
}

// lookupSpy is a provider that lists its lookups.
type lookupSpy struct {
	gateway.Provider

	mu    sync.Mutex
	asked []string
}

func (s *lookupSpy) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	s.mu.Lock()
	s.asked = append(s.asked, id)
	s.mu.Unlock()
	return s.Provider.Lookup(ctx, id)
}

// early is an env with lookups, and a clock, of the test's.
func early(t *testing.T, lookup func() (gateway.Outcome, error)) (r *env, look *lookupSpy, passes func(time.Duration)) {
	t.Helper()
	by := &answering{lookup: lookup}
	look = &lookupSpy{}
	r = newEnv(t, setup{silent: true, provider: func(p gateway.Provider) gateway.Provider {
		look.Provider = by.on(p)
		return look
	}, change: func(o *options) { passes = stopped(o) }})
	return r, look, passes
}

// keeps takes in an unsigned notice that waits for its payment.
func (r *env) keeps(t *testing.T, sender, name string) error {
	t.Helper()
	notice := received([]byte("{}"), hint(webhooks.KindNotice, name))
	known, err := r.Known(t.Context(), notice)
	require.NoError(t, err)
	require.False(t, known)
	return r.Early(sender, notice)
}

// retryEarly is a round of the worker.
func (r *env) retryEarly(t *testing.T) {
	t.Helper()
	questions, err := r.RetryEarly(t.Context())
	require.NoError(t, err)
	for _, ask := range questions {
		require.NoError(t, ask(t.Context()))
	}
}

func (r *env) stored(t *testing.T) []string {
	t.Helper()
	return rows[string](t, r, "SELECT array_to_string(refs, ' ') || ' ' || verdict FROM provider_events")
}

// A notice may come before the response that brings the payment's name.
func earlyStoredWithItsPayment(t *testing.T) {
	t.Parallel()
	r, look, passes := early(t, says(fsm.EventSucceeded))
	require.NoError(t, r.keeps(t, "a", "ch_1"))
	require.NoError(t, r.keeps(t, "a", "ch_1"), "the same again is one")
	r.retryEarly(t)
	require.Empty(t, r.stored(t))
	paid := r.paid(t, "A-1", "tok_never")
	r.exec(t, "INSERT INTO attempt_references (account, reference, order_id, attempt_id) VALUES ('sandbox', 'ch_1', 'A-1', $1)", paid.ID.String())
	known, err := r.Known(t.Context(), received([]byte("{}"), hint(webhooks.KindNotice, "ch_1")))
	require.NoError(t, err)
	require.True(t, known)
	r.retryEarly(t)
	require.Equal(t, []string{"ch_1 deferred"}, r.stored(t))
	r.retry(t, true)
	require.Equal(t, succeeded, standingOf(r.attempt(t, paid.ID).Attempt))
	passes(10 * time.Second)
	r.retryEarly(t)
	require.Len(t, r.stored(t), 1)
	require.Equal(t, []string{"ch_1"}, look.asked, "nobody was asked whose it is")
}

// Where the response was lost its name may come by nothing but the notice.
func earlyLookedUpAfterALostResponse(t *testing.T) {
	t.Parallel()
	var ours payment.AttemptID
	r, look, passes := early(t, func() (gateway.Outcome, error) {
		return gateway.Outcome{Event: fsm.EventSucceeded, References: []string{ours.String()}}, nil
	})
	ours = r.paid(t, "A-1", "tok_never").ID
	require.NoError(t, r.keeps(t, "a", "tr_9"))
	r.retryEarly(t)
	require.Empty(t, look.asked, "its name may come in a moment")
	passes(3 * time.Second)
	r.retryEarly(t)
	require.Equal(t, []string{"tr_9"}, look.asked)
	require.Equal(t, []string{"tr_9 deferred"}, r.stored(t))
}

// A lookup that fails, or is held back, says nothing of the payment: the notice is looked up again, after the others of its sender.
func earlyLookedUpAgainAfterAFailure(t *testing.T) {
	t.Parallel()
	var ours payment.AttemptID
	failures := []error{errNoAnswer, gateway.ErrThrottled, nil}
	r, look, passes := early(t, func() (gateway.Outcome, error) {
		err := failures[0]
		failures = append(failures[1:], nil)
		return gateway.Outcome{Event: fsm.EventSucceeded, References: []string{ours.String()}}, err
	})
	ours = r.paid(t, "A-1", "tok_never").ID
	require.NoError(t, r.keeps(t, "a", "tr_8"))
	require.NoError(t, r.keeps(t, "a", "tr_9"))
	passes(3 * time.Second)
	for range 4 {
		r.retryEarly(t)
	}
	require.Equal(t, []string{"tr_8", "tr_9", "tr_8", "tr_9"}, look.asked)
	require.Equal(t, []string{"tr_8 deferred", "tr_9 deferred"}, r.stored(t))
	r.retry(t, true)
	require.True(t, r.attempt(t, ours).Succeeded())
}

// A notice without a usable lookup in its minute is stored, and looked up like other stored notices.
func earlyStoredWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	var ours payment.AttemptID
	down := true
	r, _, passes := early(t, func() (gateway.Outcome, error) {
		if down {
			return gateway.Outcome{}, errNoAnswer
		}
		return gateway.Outcome{Event: fsm.EventSucceeded, References: []string{ours.String()}}, nil
	})
	ours = r.paid(t, "A-1", "tok_never").ID
	require.NoError(t, r.keeps(t, "a", "tr_9"))
	passes(3 * time.Second)
	r.retryEarly(t)
	passes(58 * time.Second)
	require.Empty(t, r.stored(t))
	down = false
	r.retryEarly(t)
	require.Equal(t, []string{"tr_9 deferred"}, r.stored(t))
	r.retry(t, true)
	require.True(t, r.attempt(t, ours).Succeeded())
	require.Empty(t, r.verify(t))
}

// A sender takes no room of another one, and no more lookups; a notice of no payment leaves
// nothing behind.
func earlyLimits(t *testing.T) {
	t.Parallel()
	r, look, passes := early(t, func() (gateway.Outcome, error) { return gateway.Outcome{}, gateway.ErrNoSuchPayment })
	for i := range 100 {
		require.NoError(t, r.keeps(t, "a", "tr_"+strconv.Itoa(i)))
	}
	require.ErrorIs(t, r.keeps(t, "a", "tr_more"), payment.ErrOverloaded)
	require.NoError(t, r.keeps(t, "b", "tr_b"))
	passes(3 * time.Second)
	for range 2 {
		r.retryEarly(t)
	}
	require.Equal(t, []string{"tr_0", "tr_b"}, look.asked, "one at a time, and the other sender's is the second")
	passes(time.Minute)
	r.retryEarly(t)
	require.Len(t, look.asked, 2)
	require.NoError(t, r.keeps(t, "a", "tr_more"), "there is room again")
	require.Empty(t, r.stored(t))
	require.Empty(t, r.opened(t))
}
