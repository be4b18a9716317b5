package payment_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// opened are the discrepancies: what they are about, and of which amount.
func (r *rig) opened(t *testing.T) []string {
	t.Helper()
	return rows[string](t, r, `SELECT kind || ' ' || account || ' ' || coalesce(provider_event_id, '-') || ' ' || about || coalesce(amount::text, '')
		FROM discrepancies`)
}

// A worker that finds no place to ask about an event has tried nothing. The event
// waits as long again as it has waited, and is asked about when there is a place.
func TestATryThatAskedNobodyDoesNotCount(t *testing.T) {
	t.Parallel()
	look := &answering{lookup: says(fsm.NewsSucceeded)}
	r := newRig(t, setup{silent: true, provider: look.on})
	paid := r.paid(t, "A-1", "tok_never")
	require.Equal(t, []fsm.Verdict{payment.Deferred}, r.tell(t, hint(webhooks.KindNotice, paid.ProviderPaymentID)))
	for range 15 {
		r.exec(t, "UPDATE provider_events SET next_try_at = now()")
		tried, err := r.Service.RetryParked(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, tried, 1)
	}
	require.Equal(t, []int{0}, rows[int](t, r, "SELECT tries FROM provider_events"))
	require.Equal(t, []bool{true}, rows[bool](t, r, "SELECT next_try_at < now() + interval '1 minute' FROM provider_events"))
	require.Empty(t, r.opened(t))
	for waited, next := range map[string]string{"10 minutes": "10 minutes", "9 hours": "1 hour"} {
		r.exec(t, "UPDATE provider_events SET next_try_at = now(), received_at = now() - $1::text::interval", waited)
		_, err := r.Service.RetryParked(t.Context(), 10)
		require.NoError(t, err)
		require.Equal(t, []bool{true}, rows[bool](t, r, `SELECT next_try_at BETWEEN now() + $1::text::interval - interval '1 minute'
			AND now() + $1::text::interval + interval '1 minute' FROM provider_events`, next))
	}
	r.retry(t, true)
	require.Equal(t, []string{"applied"}, r.verdicts(t, paid.ID))
	require.Equal(t, []int{1}, rows[int](t, r, "SELECT tries FROM provider_events"))
}

// What makes an event due while it is being fetched is not undone where that fails.
func TestAnEventThatIsMadeDueDuringItsFetchStaysDue(t *testing.T) {
	t.Parallel()
	look := &answering{}
	r := newRig(t, setup{silent: true, provider: look.on})
	look.lookup = func() (payment.Outcome, error) {
		r.exec(t, "UPDATE provider_events SET next_try_at = now()")
		return payment.Outcome{}, errNoAnswer
	}
	r.tell(t, hint(webhooks.KindNotice, "tr_1"))
	r.retry(t, true)
	require.EqualValues(t, 1, look.lookups.Load())
	require.Equal(t, []bool{true}, rows[bool](t, r, "SELECT next_try_at <= now() AND tries = 1 FROM provider_events"))
}

// Nor is a question one that the guard before the provider held back.
func TestAQuestionThatIsHeldBackIsNoTry(t *testing.T) {
	t.Parallel()
	look := &answering{lookup: func() (payment.Outcome, error) { return payment.Outcome{}, errHeldBack }}
	r := newRig(t, setup{silent: true, provider: look.on})
	r.tell(t, hint(webhooks.KindNotice, "tr_1"))
	for range 15 {
		r.retry(t, true)
	}
	require.EqualValues(t, 15, look.lookups.Load())
	require.Equal(t, []int{0}, rows[int](t, r, "SELECT tries FROM provider_events"))
	require.Empty(t, r.opened(t))
}

// Anybody can make such notices up, as many as he likes: that they wait and nobody
// can be asked about them is one thing for a person to look at, in each account. What
// a provider signed is one each.
func TestUnsignedNoticesThatWaitAskAPersonOnce(t *testing.T) {
	t.Parallel()
	silent := func() (payment.Outcome, error) { return payment.Outcome{}, errNoAnswer }
	const one = "needs_review sandbox - unsigned notices"
	for name, c := range map[string]struct {
		noAdapter bool
		wait      func(t *testing.T, r *rig)
	}{
		"no adapter": {true, func(t *testing.T, r *rig) { //nolint:thelper // what the case does
			for range 12 {
				r.retry(t, true)
			}
		}},
		"no answer": {false, func(t *testing.T, r *rig) { //nolint:thelper // what the case does
			for range 12 {
				r.retry(t, true)
			}
		}},
		"no place for an hour": {false, func(t *testing.T, r *rig) { //nolint:thelper // what the case does
			for _, waited := range []string{"67 minutes", "69 minutes"} {
				require.Empty(t, r.opened(t))
				r.exec(t, "UPDATE provider_events SET next_try_at = now(), received_at = now() - $1::text::interval", waited)
				_, err := r.Service.RetryParked(t.Context(), 10)
				require.NoError(t, err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			look := &answering{lookup: silent}
			r := newRig(t, setup{silent: true, provider: look.on, change: func(o *payment.Options) {
				if c.noAdapter {
					o.Accounts = map[string]payment.Account{"sandbox": {}}
				}
			}})
			for _, id := range []string{"tr_1", "tr_1", "tr_2"} {
				r.tell(t, hint(webhooks.KindSucceeded, id))
			}
			signed := hint(webhooks.KindSucceeded, "tr_3")
			signed.SecretIndex, signed.Money = 0, nil
			r.tell(t, signed)
			c.wait(t, r)
			require.ElementsMatch(t, []string{one, "needs_review sandbox " + signed.ID + " "}, r.opened(t))
			require.EqualValues(t, 4, r.parked(t), "they are tried further")
		})
	}
}

// Of a payment that nobody here began, and that the provider knows, the same: whoever
// knows its id can send any number of notices.
func TestUnsignedNoticesOfNobodysPaymentAskAPersonOnce(t *testing.T) {
	t.Parallel()
	look := &answering{lookup: says(fsm.NewsSucceeded)}
	r := newRig(t, setup{silent: true, provider: look.on})
	for _, id := range []string{"tr_1", "tr_1", "tr_2"} {
		r.tell(t, hint(webhooks.KindSucceeded, id))
	}
	for range 12 {
		r.retry(t, true)
	}
	require.ElementsMatch(t, []string{"unmatched_event sandbox - payment tr_1", "unmatched_event sandbox - payment tr_2"}, r.opened(t))
	require.Len(t, rows[string](t, r, "SELECT text FROM discrepancies WHERE text LIKE '%tr_1%'"), 1)
}
