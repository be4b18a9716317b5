package payment_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// spied is a provider whose questions are listed.
type spied struct {
	payment.Provider

	mu    sync.Mutex
	asked []string
}

func (s *spied) Lookup(ctx context.Context, id string) (payment.Outcome, error) {
	s.mu.Lock()
	s.asked = append(s.asked, id)
	s.mu.Unlock()
	return s.Provider.Lookup(ctx, id)
}

// early is a rig whose provider is asked by hand and whose clock is the test's.
func early(t *testing.T, lookup func() (payment.Outcome, error)) (r *rig, look *spied, passes func(time.Duration)) {
	t.Helper()
	by := &answering{lookup: lookup}
	look = &spied{}
	var later atomic.Int64
	r = newRig(t, setup{silent: true, provider: func(p payment.Provider) payment.Provider {
		look.Provider = by.on(p)
		return look
	}, change: func(o *payment.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	}})
	return r, look, func(d time.Duration) { later.Add(int64(d)) }
}

// keeps has what nobody signed wait for its payment, and returns what is stored then.
func (r *rig) keeps(t *testing.T, sender, name string) error {
	t.Helper()
	notice := received([]byte("{}"), hint(webhooks.KindNotice, name))
	known, err := r.Known(t.Context(), notice)
	require.NoError(t, err)
	require.False(t, known)
	return r.Early(sender, notice)
}

// retryEarly is a turn of the worker.
func (r *rig) retryEarly(t *testing.T) {
	t.Helper()
	questions, err := r.RetryEarly(t.Context())
	require.NoError(t, err)
	for _, ask := range questions {
		require.NoError(t, ask(t.Context()))
	}
}

func (r *rig) stored(t *testing.T) []string {
	t.Helper()
	return rows[string](t, r, "SELECT array_to_string(refs, ' ') || ' ' || verdict FROM provider_events")
}

// A notice may come before the answer that brings the payment's name.
func TestAnEarlyNoticeIsTakenInWhenItsPaymentIsKnown(t *testing.T) {
	t.Parallel()
	r, look, passes := early(t, says(fsm.NewsSucceeded))
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
	require.Equal(t, succeeded, standingOf(r.attempt(t, paid.ID)))
	passes(10 * time.Second)
	r.retryEarly(t)
	require.Len(t, r.stored(t), 1)
	require.Equal(t, []string{"ch_1"}, look.asked, "nobody was asked whose it is")
}

// Where the answer was lost its name may come by nothing but the notice.
func TestAnEarlyNoticeOfALostAnswerIsAskedAbout(t *testing.T) {
	t.Parallel()
	var ours payment.AttemptID
	r, look, passes := early(t, func() (payment.Outcome, error) {
		return payment.Outcome{News: fsm.NewsSucceeded, References: []string{ours.String()}}, nil
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

// A sender takes nobody else's room, and not more questions than another; what is
// nobody's leaves nothing behind.
func TestEarlyNoticesAreFewAndShort(t *testing.T) {
	t.Parallel()
	r, look, passes := early(t, func() (payment.Outcome, error) { return payment.Outcome{}, payment.ErrNoSuchPayment })
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
