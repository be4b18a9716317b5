package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestFetchUnsigned(t *testing.T) {
	t.Parallel()
	t.Run("before_the_provider_shows_it", fetchUnsignedBeforeTheProviderShowsIt)
	t.Run("waiting_open_one_discrepancy", fetchUnsignedWaitingOpenOneDiscrepancy)
	t.Run("unmatched_open_one_discrepancy", fetchUnsignedUnmatchedOpenOneDiscrepancy)
}

// opened are the discrepancies: their subjects and their amounts.
func (r *env) opened(t *testing.T) []string {
	t.Helper()
	return rows[string](t, r, `SELECT kind || ' ' || account || ' ' || coalesce(provider_event_id, '-') || ' ' || concat_ws(' ', nullif(about, ''), nullif(about_id, '')) || coalesce(amount::text, '')
		FROM discrepancies`)
}

// A worker that finds no slot to fetch an event has tried nothing. The event waits as long again
// as it has waited, and is fetched when there is a slot.
func fetchWithoutASlotCountsNoTry(t *testing.T) {
	t.Parallel()
	look := &answering{lookup: says(fsm.EventSucceeded)}
	r := newEnv(t, setup{silent: true, provider: look.on})
	paid := r.paid(t, "A-1", "tok_never")
	require.Equal(t, []fsm.Verdict{payment.VerdictDeferred}, r.tell(t, hint(webhooks.KindNotice, paid.ProviderPaymentID)))
	for range 15 {
		r.exec(t, "UPDATE provider_events SET next_try_at = now()")
		tried, err := r.service.RetryParked(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, tried, 1)
	}
	require.Equal(t, []int{0}, rows[int](t, r, "SELECT tries FROM provider_events"))
	require.Equal(t, []bool{true}, rows[bool](t, r, "SELECT next_try_at < now() + interval '1 minute' FROM provider_events"))
	require.Empty(t, r.opened(t))
	for waited, next := range map[string]string{"10 minutes": "10 minutes", "9 hours": "1 hour"} {
		r.exec(t, "UPDATE provider_events SET next_try_at = now(), received_at = now() - $1::text::interval", waited)
		_, err := r.service.RetryParked(t.Context(), 10)
		require.NoError(t, err)
		require.Equal(t, []bool{true}, rows[bool](t, r, `SELECT next_try_at BETWEEN now() + $1::text::interval - interval '1 minute'
			AND now() + $1::text::interval + interval '1 minute' FROM provider_events`, next))
	}
	r.retry(t, true)
	require.Equal(t, []string{"applied"}, r.verdicts(t, paid.ID))
	require.Equal(t, []int{1}, rows[int](t, r, "SELECT tries FROM provider_events"))
}

// An event that becomes due during its fetch stays due if the fetch fails.
func fetchMadeDueMeanwhile(t *testing.T) {
	t.Parallel()
	look := &answering{}
	r := newEnv(t, setup{silent: true, provider: look.on})
	look.lookup = func() (gateway.Outcome, error) {
		r.exec(t, "UPDATE provider_events SET next_try_at = now()")
		return gateway.Outcome{}, errNoAnswer
	}
	r.tell(t, hint(webhooks.KindNotice, "tr_1"))
	r.retry(t, true)
	require.EqualValues(t, 1, look.lookups.Load())
	require.Equal(t, []bool{true}, rows[bool](t, r, "SELECT next_try_at <= now() AND tries = 1 FROM provider_events"))
}

// A lookup that was throttled before the provider is no try either.
func fetchHeldBackCountsNoTry(t *testing.T) {
	t.Parallel()
	look := &answering{lookup: func() (gateway.Outcome, error) { return gateway.Outcome{}, errHeldBack }}
	r := newEnv(t, setup{silent: true, provider: look.on})
	r.tell(t, hint(webhooks.KindNotice, "tr_1"))
	for range 15 {
		r.retry(t, true)
	}
	require.EqualValues(t, 15, look.lookups.Load())
	require.Equal(t, []int{0}, rows[int](t, r, "SELECT tries FROM provider_events"))
	require.Empty(t, r.opened(t))
}

// Any sender can make up such notices, in any number. Waiting notices that can't be looked up share one discrepancy per
// account. Each signed notice has its own.
func fetchUnsignedWaitingOpenOneDiscrepancy(t *testing.T) {
	t.Parallel()
	silent := func() (gateway.Outcome, error) { return gateway.Outcome{}, errNoAnswer }
	const one = "needs_review sandbox - unsigned_notices"
	for name, c := range map[string]struct {
		noAdapter bool
		wait      func(t *testing.T, r *env)
	}{
		"no adapter": {true, func(t *testing.T, r *env) { //nolint:thelper // what the case does
			for range 12 {
				r.retry(t, true)
			}
		}},
		"no answer": {false, func(t *testing.T, r *env) { //nolint:thelper // what the case does
			for range 12 {
				r.retry(t, true)
			}
		}},
		"no place for an hour": {false, func(t *testing.T, r *env) { //nolint:thelper // what the case does
			for _, waited := range []string{"67 minutes", "69 minutes"} {
				require.Empty(t, r.opened(t))
				r.exec(t, "UPDATE provider_events SET next_try_at = now(), received_at = now() - $1::text::interval", waited)
				_, err := r.service.RetryParked(t.Context(), 10)
				require.NoError(t, err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			look := &answering{lookup: silent}
			r := newEnv(t, setup{silent: true, provider: look.on, change: func(o *options) {
				if c.noAdapter {
					o.Accounts = map[string]gateway.Account{"sandbox": {}}
				}
			}})
			for _, id := range []string{"tr_1", "tr_1", "tr_2"} {
				r.tell(t, hint(webhooks.KindSucceeded, id))
			}
			signed := hint(webhooks.KindSucceeded, "tr_3")
			signed.SecretIndex, signed.Money = 0, nil
			r.tell(t, signed)
			c.wait(t, r)
			require.ElementsMatch(t, []string{one, "needs_review sandbox " + signed.ID + " event_not_applied"}, r.opened(t))
			require.EqualValues(t, 4, r.parked(t), "they are tried further")
		})
	}
}

// Of a payment that was not begun here, and that the provider has, the same: its id is enough to
// send any number of notices.
func fetchUnsignedUnmatchedOpenOneDiscrepancy(t *testing.T) {
	t.Parallel()
	look := &answering{lookup: says(fsm.EventSucceeded)}
	r := newEnv(t, setup{silent: true, provider: look.on})
	for _, id := range []string{"tr_1", "tr_1", "tr_2"} {
		r.tell(t, hint(webhooks.KindSucceeded, id))
	}
	for range 12 {
		r.retry(t, true)
	}
	require.ElementsMatch(t, []string{"unmatched_event sandbox - tr_1", "unmatched_event sandbox - tr_2"}, r.opened(t))
	require.Len(t, rows[string](t, r, "SELECT text FROM discrepancies WHERE text LIKE '%tr_1%'"), 1)
}

// The provider may show a payment a little later than it reports it.
func fetchUnsignedBeforeTheProviderShowsIt(t *testing.T) {
	t.Parallel()
	look := &answering{lookup: func() (gateway.Outcome, error) { return gateway.Outcome{}, gateway.ErrNoSuchPayment }}
	r := newEnv(t, setup{silent: true, provider: look.on})
	paid := r.paid(t, "A-1", "tok_never")
	r.tell(t, hint(webhooks.KindNotice, paid.ProviderPaymentID))
	for range 4 {
		r.retry(t, true)
	}
	look.lookup = says(fsm.EventSucceeded)
	r.retry(t, true)
	require.Equal(t, succeeded, standingOf(r.attempt(t, paid.ID).Attempt))
	require.Equal(t, []string{"applied"}, r.verdicts(t, paid.ID))
}
