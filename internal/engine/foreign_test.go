package engine_test

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestForeign(t *testing.T) {
	t.Parallel()
	t.Run("after_ten_minutes", foreignAfterTenMinutes)
	t.Run("tried_seldom", foreignTriedSeldom)
	t.Run("never_if_marked", foreignNeverIfMarked)
	t.Run("never_if_locked", foreignNeverIfLocked)
	t.Run("reviewed", foreignReviewed)
	t.Run("fetched", foreignFetched)
	t.Run("found_by_a_new_name", foreignFoundByANewName)
	t.Run("found_for_30_days", foreignFoundFor30Days)
	t.Run("poison_message_fails_no_other", foreignPoisonMessageFailsNoOther)
	t.Run("missed_by_its_name", foreignMissedByItsName)
	t.Run("replayed", foreignReplayed)
	t.Run("beside_ours", foreignBesideOurs)
}

// foreignEnv is an env with an account that counts, or reviews, foreign events.
type foreignEnv struct {
	*env

	mu     sync.Mutex
	counts map[string]int
}

func newForeignEnv(t *testing.T, with setup, review bool) *foreignEnv {
	t.Helper()
	f := &foreignEnv{counts: map[string]int{}}
	with.silent = true
	with.change = func(o *options) {
		account := o.Accounts["sandbox"]
		account.Foreign = gateway.Foreign{After: 10 * time.Minute, Review: review}
		o.Accounts["sandbox"] = account
		o.Foreign = func(account string) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.counts[account]++
		}
	}
	f.env = newEnv(t, with)
	return f
}

// counted is how many events of the account have become foreign.
func (f *foreignEnv) counted() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts["sandbox"]
}

// later lets time pass for all events.
func (f *foreignEnv) later(t *testing.T, by time.Duration) {
	t.Helper()
	f.exec(t, "UPDATE provider_events SET received_at = received_at - $1::interval, next_try_at = next_try_at - $1::interval", by)
}

// inbox lists the verdicts, with "parked" beside events that are tried again.
func (f *foreignEnv) inbox(t *testing.T) []string {
	t.Helper()
	return rows[string](t, f.env, "SELECT verdict || CASE WHEN next_try_at IS NULL THEN '' ELSE ' parked' END FROM provider_events ORDER BY received_at, event_id")
}

func (f *foreignEnv) kinds(t *testing.T) []string {
	t.Helper()
	return rows[string](t, f.env, "SELECT kind FROM discrepancies ORDER BY kind")
}

// round is a round of the worker.
func (f *foreignEnv) round(t *testing.T) int {
	t.Helper()
	n, err := f.RetryParked(t.Context(), 10)
	require.NoError(t, err)
	return n
}

// becomesForeign delivers an event and requires that it becomes foreign.
func (f *foreignEnv) becomesForeign(t *testing.T, e webhooks.Event) {
	t.Helper()
	require.Equal(t, []fsm.Verdict{payment.VerdictUnmatched}, f.tell(t, e))
	f.later(t, 10*time.Minute)
	require.Equal(t, 1, f.round(t))
	require.Contains(t, f.inbox(t), "foreign")
}

// Of a payment that is not ours: tried as any other, the last time when it is ten minutes old.
func foreignAfterTenMinutes(t *testing.T) {
	t.Parallel()
	r := newForeignEnv(t, setup{}, false)
	e := event(webhooks.KindSucceeded, "ch_theirs", uuid.NewString())
	require.Equal(t, []fsm.Verdict{payment.VerdictUnmatched}, r.tell(t, e))
	r.exec(t, "UPDATE provider_events SET tries = 9, received_at = now() - interval '9 minutes', next_try_at = now()")
	require.Equal(t, 1, r.round(t))
	require.Equal(t, []string{"unmatched parked"}, r.inbox(t))
	require.Equal(t, []bool{true}, rows[bool](t, r.env, "SELECT next_try_at = received_at + interval '10 minutes' FROM provider_events"))
	require.Zero(t, r.counted())

	r.later(t, time.Minute)
	require.Equal(t, 1, r.round(t))
	require.Equal(t, []string{"foreign"}, r.inbox(t))
	require.Equal(t, 1, r.counted())
	r.later(t, 2*time.Hour)
	require.Zero(t, r.round(t))
	require.Empty(t, r.kinds(t))
	require.Equal(t, payment.VerdictDuplicate, r.tell(t, e)[0])
	lastDay, err := r.ForeignLastDay(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"sandbox": 1}, lastDay)
	r.later(t, 24*time.Hour)
	lastDay, err = r.ForeignLastDay(t.Context())
	require.NoError(t, err)
	require.Empty(t, lastDay)
}

// Each try writes, and another system may have many events: the fourth try is the last one.
func foreignTriedSeldom(t *testing.T) {
	t.Parallel()
	r := newForeignEnv(t, setup{}, false)
	began := time.Now()
	r.tell(t, event(webhooks.KindSucceeded, "ch_theirs"))
	var ages, took []float64
	for len(r.inbox(t)) > 0 && r.inbox(t)[0] != "foreign" {
		age := rows[float64](t, r.env, "SELECT extract(epoch FROM next_try_at - received_at)::float8 FROM provider_events")[0]
		ages, took = append(ages, age), append(took, time.Since(began).Seconds())
		began = time.Now()
		r.exec(t, "UPDATE provider_events SET received_at = now() - make_interval(secs => $1), next_try_at = now()", age)
		require.Equal(t, 1, r.round(t))
		require.LessOrEqual(t, len(ages), 4)
	}
	require.Len(t, ages, 4)
	least := []float64{1, 10, 100, 600} // and as long as it took, on a busy machine
	for i, age := range ages {
		require.GreaterOrEqual(t, age, least[i])
		require.True(t, i == 3 || age < least[i+1]+took[i], "try %d at %v s", i, age)
	}
}

// An id in the form of our attempts' and refunds' ids is a mark, even if no such object is here: the event stays parked, and is reviewed.
func foreignNeverIfMarked(t *testing.T) {
	t.Parallel()
	r := newForeignEnv(t, setup{}, false)
	refund := event(webhooks.KindRefundSucceeded, "ch_2")
	refund.RefundID, refund.RefundReference = "re_1", uuid.Must(uuid.NewV7()).String()
	r.tell(t, event(webhooks.KindSucceeded, "ch_1", uuid.Must(uuid.NewV7()).String()), refund)
	for range 15 {
		r.later(t, 10*time.Minute)
		r.exec(t, "UPDATE provider_events SET next_try_at = now()")
		require.Equal(t, 2, r.round(t))
	}
	require.Equal(t, []string{"unmatched parked", "unmatched parked"}, r.inbox(t))
	require.Equal(t, []string{"unmatched_event", "unmatched_event"}, r.kinds(t))
	require.Zero(t, r.counted())
}

// An event of an attempt that is locked whenever it is tried is no foreign one.
func foreignNeverIfLocked(t *testing.T) {
	t.Parallel()
	look := &answering{lookup: says(fsm.EventSucceeded)}
	r := newForeignEnv(t, setup{provider: look.on}, false)
	r.tell(t, event(webhooks.KindSucceeded, "ch_1"))
	thin := event(webhooks.KindNotice, "ch_1")
	thin.NeedsFetch, thin.ProviderPaymentID = true, "ch_1"
	r.tell(t, thin)
	r.exec(t, "UPDATE provider_events SET verdict = 'unmatched'")
	id := r.paid(t, "A-1", "tok_never").ID
	r.exec(t, `INSERT INTO attempt_references (account, reference, order_id, attempt_id) VALUES ('sandbox', 'ch_1', 'A-1', $1)`, id.String())
	unlock := r.lock(t, id)
	r.later(t, time.Hour)
	require.Equal(t, 2, r.round(t))
	require.NotContains(t, r.inbox(t), "foreign")
	unlock()
	r.later(t, time.Minute)
	r.round(t)
	require.Len(t, r.verdicts(t, id), 2)
	require.Zero(t, r.counted())
}

// An account may have each of them reviewed, once.
func foreignReviewed(t *testing.T) {
	t.Parallel()
	r := newForeignEnv(t, setup{}, true)
	r.tell(t, event(webhooks.KindSucceeded, "ch_theirs"))
	r.round(t)
	require.Empty(t, r.kinds(t))
	r.later(t, 10*time.Minute)
	r.round(t)
	require.Equal(t, []string{"foreign"}, r.inbox(t))
	require.Equal(t, []string{"unmatched_event"}, r.kinds(t))
	require.Equal(t, 1, r.counted())
}

// An event that must be fetched is foreign if the provider's response names no payment of ours and has no mark of ours.
func foreignFetched(t *testing.T) {
	t.Parallel()
	mark := ""
	look := &answering{lookup: func() (gateway.Outcome, error) {
		out := gateway.Outcome{Event: fsm.EventSucceeded, ProviderPaymentID: "ch_theirs", References: []string{"ch_theirs"}}
		if mark != "" {
			out.References = append(out.References, mark)
		}
		return out, nil
	}}
	r := newForeignEnv(t, setup{provider: look.on}, false)
	thin := event(webhooks.KindNotice, "ch_theirs")
	thin.NeedsFetch, thin.ProviderPaymentID = true, "ch_theirs"
	require.Equal(t, []fsm.Verdict{payment.VerdictDeferred}, r.tell(t, thin))
	r.later(t, time.Minute)
	r.round(t)
	require.Equal(t, []string{"unmatched parked"}, r.inbox(t))
	mark = uuid.Must(uuid.NewV7()).String()
	r.later(t, 10*time.Minute)
	r.round(t)
	require.Equal(t, []string{"unmatched parked"}, r.inbox(t), "a mark")
	mark = ""
	r.later(t, 10*time.Minute)
	r.round(t)
	require.Equal(t, []string{"foreign"}, r.inbox(t))
	require.Equal(t, 1, r.counted())
	require.Empty(t, r.kinds(t))
}

// A payment may be registered long after it was made elsewhere. Its events are applied in the commit that brings its
// name.
func foreignFoundByANewName(t *testing.T) {
	t.Parallel()
	r := newForeignEnv(t, setup{}, false)
	r.becomesForeign(t, event(webhooks.KindSucceeded, "ch_1"))
	r.becomesForeign(t, event(webhooks.KindDisputed, "ch_other"))
	r.later(t, 24*time.Hour)
	id := r.paid(t, "A-1", "tok_never").ID
	require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, event(webhooks.KindProcessing, id.String(), "ch_1")))
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
	require.EqualValues(t, price, r.attempt(t, id).Captured)
	require.Equal(t, []string{"applied", "repeat"}, r.verdicts(t, id))
	require.Equal(t, []string{"applied", "foreign", "repeat"}, r.inbox(t))
	require.Empty(t, r.kinds(t))
	require.Empty(t, r.verify(t))
}

func foreignFoundFor30Days(t *testing.T) {
	t.Parallel()
	r := newForeignEnv(t, setup{}, false)
	id := r.paid(t, "A-1", "tok_never").ID
	r.becomesForeign(t, event(webhooks.KindSucceeded, "ch_1"))
	r.later(t, 31*24*time.Hour)
	r.becomesForeign(t, event(webhooks.KindAuthorized, "ch_1"))
	r.later(t, 29*24*time.Hour)
	r.tell(t, event(webhooks.KindProcessing, id.String(), "ch_1"))
	require.Equal(t, []string{"foreign", "applied", "repeat"}, r.inbox(t))
	require.Equal(t, "authorized", r.attempt(t, id).Stage())
}

// A foreign event that can't be applied is left to the worker, and fails nothing that brings its name.
func foreignPoisonMessageFailsNoOther(t *testing.T) {
	t.Parallel()
	r := newForeignEnv(t, setup{}, false)
	id := r.paid(t, "A-1", "tok_never").ID
	r.becomesForeign(t, inCurrency(event(webhooks.KindSucceeded, "ch_1"), noise(1<<13)))
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, event(webhooks.KindAuthorized, id.String(), "ch_1")))
	require.Equal(t, []string{"unmatched parked", "applied"}, r.inbox(t))
	_, err := r.RetryParked(t.Context(), 10)
	require.Error(t, err, "it is for the log")
	require.Equal(t, []string{"deferred parked", "applied"}, r.inbox(t))
}

// A name that was given at the moment in which an event became foreign is looked for once more.
func foreignMissedByItsName(t *testing.T) {
	t.Parallel()
	r := newForeignEnv(t, setup{}, false)
	id := r.paid(t, "A-1", "tok_never").ID
	r.becomesForeign(t, event(webhooks.KindSucceeded, "ch_1"))
	r.exec(t, `INSERT INTO attempt_references (account, reference, order_id, attempt_id) VALUES ('sandbox', 'ch_1', 'A-1', $1)`, id.String())
	require.Eventually(t, func() bool {
		_, err := r.RetryParked(t.Context(), 10)
		return err == nil && standingOf(r.attempt(t, id).Attempt) == succeeded
	}, waitFor, tick)
	require.Equal(t, []string{"applied"}, r.inbox(t))
}

// A replayed one stays foreign, until an attempt has its name.
func foreignReplayed(t *testing.T) {
	t.Parallel()
	r := newForeignEnv(t, setup{}, true)
	r.becomesForeign(t, event(webhooks.KindSucceeded, "ch_1"))
	stored, err := payment.ParseEventID(rows[string](t, r.env, "SELECT event_id::text FROM provider_events")[0])
	require.NoError(t, err)
	replay := func(dry bool) fsm.Verdict {
		done, err := r.Replay(t.Context(), intake.Replay{ID: stored, Dry: dry})
		require.NoError(t, err)
		return done.Verdict
	}
	require.Equal(t, payment.VerdictForeign, replay(true))
	require.Equal(t, payment.VerdictForeign, replay(false))
	require.Equal(t, []string{"foreign"}, r.inbox(t))
	require.Equal(t, []string{"unmatched_event"}, r.kinds(t))
	require.Equal(t, 1, r.counted())

	r.later(t, 40*24*time.Hour)
	id := r.paid(t, "A-1", "tok_never").ID
	r.exec(t, `INSERT INTO attempt_references (account, reference, order_id, attempt_id) VALUES ('sandbox', 'ch_1', 'A-1', $1)`, id.String())
	require.Equal(t, fsm.Applied, replay(true))
	require.Equal(t, fsm.Applied, replay(false))
	require.Equal(t, []string{"applied"}, r.verdicts(t, id))
}

// Another system has a hundred times as many payments at the account. Ten minutes later its events need no more work and
// no review, and our payments are paid. A payment of the other system that is registered a day later finds its own
// event.
func foreignBesideOurs(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes in 20,200 webhooks, which is half a minute's work")
	}
	ours := 200
	if os.Getenv("PAYLATCH_LARGE") != "" {
		ours = 1000
	} else {
		t.Log("20,000 foreign events; 100,000 with PAYLATCH_LARGE=1")
	}
	theirs := 100 * ours
	r := newForeignEnv(t, setup{}, false)
	r.tellsBoth(t, ours)
	r.later(t, 10*time.Minute)
	require.Equal(t, theirs, r.triesAll(t))
	require.Equal(t, []string{fmt.Sprintf("applied %d", ours), fmt.Sprintf("foreign %d", theirs)},
		rows[string](t, r.env, "SELECT verdict || ' ' || count(*) FROM provider_events GROUP BY verdict ORDER BY verdict"))
	require.Empty(t, r.kinds(t))
	require.Equal(t, theirs, r.counted())
	require.Equal(t, []int{ours}, rows[int](t, r.env, "SELECT count(*) FROM payment_attempts WHERE status = 'succeeded'"))

	r.later(t, 24*time.Hour)
	require.Zero(t, r.triesAll(t))
	r.order(t, "theirs")
	late := r.register(t, commands.External{OrderID: "theirs", ProviderPaymentID: "ch_theirs_777"})
	require.True(t, r.attempt(t, late.ID).Succeeded())
	require.Equal(t, []string{"applied"}, r.verdicts(t, late.ID))
	require.Equal(t, []int{theirs - 1}, rows[int](t, r.env, "SELECT count(*) FROM provider_events WHERE verdict = 'foreign'"))
	require.Empty(t, r.kinds(t))
}

// tellsBoth makes payments of ours, and delivers an event of each beside a hundred foreign events.
func (f *foreignEnv) tellsBoth(t *testing.T, ours int) {
	t.Helper()
	for i := range ours {
		id := f.paid(t, payment.OrderID(fmt.Sprintf("A-%d", i)), "tok_never").ID
		var events []webhooks.Event
		for j := range 100 {
			events = append(events, event(webhooks.KindSucceeded, fmt.Sprintf("ch_theirs_%d", 100*i+j)))
		}
		f.tell(t, append(events, event(webhooks.KindSucceeded, id.String(), fmt.Sprintf("ch_ours_%d", i)))...)
	}
}

// triesAll lets the worker work until nothing is due, and returns how many events it tried.
func (f *foreignEnv) triesAll(t *testing.T) (n int) {
	t.Helper()
	for {
		tried, err := f.service.RetryParked(t.Context(), 64)
		require.NoError(t, err)
		if len(tried) == 0 {
			return n
		}
		n += len(tried)
	}
}
