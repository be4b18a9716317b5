package fsm_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
)

// bag is a set of reports: a bit for each place in Events.
type bag uint16

func (b bag) with(n fsm.Event) bag { return b | 1<<slices.Index(fsm.Events(), n) }

func (b bag) has(n fsm.Event) bool { return b.with(n) == b }

func (b bag) contradicts() bool { return b.has(fsm.EventSucceeded) && b.has(fsm.EventFailed) }

// outcome is the end of a course of reports: the final state, and whether a report needs review.
type outcome[S comparable] struct {
	state    S
	conflict bool
	// beside holds the reports that were applied as facts about the money.
	beside bag
}

// course is all that matters of the reports so far, however many they were.
type course[S comparable] struct {
	outcome[S]
	heard bag
	first fsm.Event // the success or failure that came first
}

// hearing is Next or NextRefund, failing the test on an error.
type hearing[S comparable] func(S, fsm.Event) (S, fsm.Verdict)

func (c course[S]) hear(n fsm.Event, next hearing[S]) course[S] {
	to, verdict := next(c.state, n)
	if verdict == fsm.Applied && to == c.state && n != fsm.EventSoftFailed {
		c.beside = c.beside.with(n)
	}
	if c.first == "" && (n == fsm.EventSucceeded || n == fsm.EventFailed) {
		c.first = n
	}
	c.conflict = c.conflict || verdict == fsm.Conflict
	c.state, c.heard = to, c.heard.with(n)
	return c
}

// courses follows all reports in every order and any number of times. It ends
// because a course is finite: what leads to one already followed adds nothing.
func courses[S comparable](start S, known []fsm.Event, next hearing[S]) []course[S] {
	all := []course[S]{{outcome: outcome[S]{state: start}}}
	followed := map[course[S]]bool{all[0]: true}
	for at := 0; at < len(all); at++ {
		for _, n := range known {
			c := all[at].hear(n, next)
			if !followed[c] {
				followed[c] = true
				all = append(all, c)
			}
		}
	}
	return all
}

// sameOutcome asserts that a set which does not contradict itself has one
// outcome, and returns in how many sets it found that.
func sameOutcome[S comparable](t *testing.T, all []course[S]) int {
	t.Helper()
	outcomes := make(map[bag]outcome[S])
	for _, c := range all {
		if c.heard.contradicts() {
			continue
		}
		if known, ok := outcomes[c.heard]; ok {
			require.Equal(t, known, c.outcome, "news %b", c.heard)
		}
		outcomes[c.heard] = c.outcome
		require.False(t, c.conflict)
	}
	return len(outcomes)
}

// firstWins asserts that the first success or failure decides, and that there
// is a conflict exactly when a success came after a failure had decided.
func firstWins[S comparable](t *testing.T, all []course[S], succeeded, failed S) {
	t.Helper()
	want := map[fsm.Event]S{fsm.EventSucceeded: succeeded, fsm.EventFailed: failed}
	seen := 0
	for _, c := range all {
		if c.heard.contradicts() {
			seen++
			require.Equal(t, want[c.first], c.state)
			require.Equal(t, c.first == fsm.EventFailed, c.conflict)
		}
	}
	require.Positive(t, seen)
}

func attemptHears(t require.TestingT) hearing[fsm.State] {
	return func(s fsm.State, n fsm.Event) (fsm.State, fsm.Verdict) {
		step, err := fsm.Next(s, n)
		require.NoError(t, err)
		return step.To, step.Verdict
	}
}

func refundHears(t require.TestingT) hearing[fsm.RefundState] {
	return func(s fsm.RefundState, n fsm.Event) (fsm.RefundState, fsm.Verdict) {
		step, err := fsm.NextRefund(s, n)
		require.NoError(t, err)
		return step.To, step.Verdict
	}
}

func TestEveryOrderOfNewsEndsTheSame(t *testing.T) {
	t.Parallel()
	all := courses(fsm.Requested, fsm.Events(), attemptHears(t))
	// Nine reports; of the 512 sets a quarter have both success and failure.
	require.Equal(t, 384, sameOutcome(t, all))
	firstWins(t, all, fsm.Succeeded, fsm.Failed)
}

func TestEveryOrderOfRefundNewsEndsTheSame(t *testing.T) {
	t.Parallel()
	var known []fsm.Event
	for _, row := range fsm.RefundTable() {
		if row.From == fsm.RefundPending {
			known = append(known, row.Event)
		}
	}
	all := courses(fsm.RefundPending, known, refundHears(t))
	require.Equal(t, 24, sameOutcome(t, all))
	firstWins(t, all, fsm.RefundSucceeded, fsm.RefundFailed)
	for _, c := range all {
		undone := c.heard.contradicts() && c.first == fsm.EventSucceeded
		require.Equal(t, undone, c.beside.has(fsm.EventFailed), "a refund undone is seen")
	}
}

// Money that moved and a dispute are seen in every state, even before the success that
// they are about has arrived.
func TestMoneyThatMovedIsAlwaysSeen(t *testing.T) {
	t.Parallel()
	for _, c := range courses(fsm.Requested, fsm.Events(), attemptHears(t)) {
		for _, n := range []fsm.Event{fsm.EventMoney, fsm.EventDisputed} {
			require.Equal(t, c.heard.has(n), c.beside.has(n))
		}
	}
}

// The same claim in plain form, on real lists: should the closure above be wrong
// about what matters of a course, this one finds it.
func TestShuffledNewsEndsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		never := rapid.SampledFrom([]fsm.Event{fsm.EventSucceeded, fsm.EventFailed}).Draw(t, "never")
		said := slices.DeleteFunc(fsm.Events(), func(n fsm.Event) bool { return n == never })
		news := rapid.SliceOfN(rapid.SampledFrom(said), 0, 30).Draw(t, "news")
		shuffled := rapid.Permutation(news).Draw(t, "shuffled")
		require.Equal(t, hearAll(t, news), hearAll(t, shuffled))
	})
}

func hearAll(t require.TestingT, news []fsm.Event) outcome[fsm.State] {
	c := course[fsm.State]{outcome: outcome[fsm.State]{state: fsm.Requested}}
	for _, n := range news {
		c = c.hear(n, attemptHears(t))
	}
	return c.outcome
}
