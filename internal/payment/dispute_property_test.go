package payment_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

var disputeEpoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// anyDisputeTold is a report that states every field, at one of a few times, so that some reports have the same time.
var anyDisputeTold = rapid.Custom(func(t *rapid.T) payment.DisputeReport {
	return payment.DisputeReport{
		ProviderID: "dp_1", Status: rapid.SampledFrom(fsm.DisputeStates()).Draw(t, "status"),
		At: disputeEpoch.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "second")) * time.Second),
	}
})

// disputeAfter is a dispute after reports, one a second from ten years later on.
func disputeAfter(t require.TestingT, told ...payment.DisputeReport) payment.Dispute {
	d := payment.NewDispute(payment.Attempt{Account: "acc"}, "dp_1")
	for i, r := range told {
		was := d
		now := disputeEpoch.AddDate(10, 0, i)
		verdict := payment.AdvanceDispute(&d, r, now)
		changed := d.State != was.State || d.Reason != was.Reason || !d.DueBy.Equal(was.DueBy) || (d.Money == nil) != (was.Money == nil)
		require.Equal(t, changed, verdict == fsm.Applied, "%s after %+v: %s", r.Status, was, verdict)
		require.Equal(t, d.State.Closed(), d.ClosedAt != nil)
		require.False(t, d.StatusAt.Before(was.StatusAt))
		require.GreaterOrEqual(t, d.Version, was.Version)
		require.LessOrEqual(t, d.Version, was.Version+1)
		require.Equal(t, d.Version > was.Version, d.UpdatedAt.Equal(now))
	}
	return d
}

// Reports with the provider's time lead to the same state in any order and number: the state of the latest report.
func TestDispute_any_order(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		told := rapid.SliceOfN(anyDisputeTold, 1, 8).Draw(rt, "told")
		again := rapid.SliceOfN(rapid.SampledFrom(told), 0, 4).Draw(rt, "told again")
		mixed := rapid.Permutation(append(told, again...)).Draw(rt, "in this order")
		last := told[0]
		for _, r := range told {
			further := r.At.Equal(last.At) && rankOf(r.Status) > rankOf(last.Status)
			if r.At.After(last.At) || further {
				last = r
			}
		}
		d := disputeAfter(rt, mixed...)
		require.Equal(rt, last.Status, d.State)
		require.True(rt, last.At.Equal(d.StatusAt))
	})
}

func rankOf(s fsm.DisputeState) (i int) {
	for i = range fsm.DisputeStates() {
		if fsm.DisputeStates()[i] == s {
			break
		}
	}
	return i
}

// A report without a time never opens a closed dispute, and never goes back to an inquiry.
func TestDispute_without_a_time(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := disputeAfter(rt, rapid.SliceOfN(anyDisputeTold, 1, 4).Draw(rt, "told")...)
		was := d
		undated := payment.DisputeReport{ProviderID: "dp_1", Status: rapid.SampledFrom(fsm.DisputeStates()).Draw(rt, "status")}
		payment.AdvanceDispute(&d, undated, disputeEpoch.AddDate(20, 0, 0))
		require.True(rt, !was.State.Closed() || d.State.Closed(), "%s after %s", d.State, was.State)
		require.True(rt, was.State == fsm.DisputeWarning || d.State != fsm.DisputeWarning)
		require.Equal(rt, was.StatusAt, d.StatusAt, "it is nobody's clock")
	})
}

// The amount, the reason and the deadline of a dispute come from the last report that states them. An older report fills
// in missing fields.
func TestDispute_what_it_states(t *testing.T) {
	t.Parallel()
	at := func(second int, status fsm.DisputeState) payment.DisputeReport {
		return payment.DisputeReport{ProviderID: "dp_1", Status: status, At: disputeEpoch.Add(time.Duration(second) * time.Second)}
	}
	due := disputeEpoch.AddDate(0, 1, 0)
	opened, lost, won := at(1, fsm.DisputeOpen), at(2, fsm.DisputeLost), at(3, fsm.DisputeWon)
	opened.Reason, opened.DueBy, opened.Money = "fraudulent", due, &payment.Money{Minor: 700, Currency: "EUR"}
	lost.Money = &payment.Money{Minor: 500, Currency: "EUR"}
	for _, order := range [][]payment.DisputeReport{{opened, lost, won}, {won, lost, opened}, {lost, opened, won}, {lost, won, opened}} {
		d := disputeAfter(t, order...)
		require.Equal(t, fsm.DisputeWon, d.State)
		require.Equal(t, "fraudulent", d.Reason)
		require.Equal(t, due, d.DueBy)
		require.Equal(t, &payment.Money{Minor: 500, Currency: "EUR"}, d.Money)
	}
	d := disputeAfter(t, payment.DisputeReport{ProviderID: "dp_1", Status: "odd"})
	require.Zero(t, d.Version, "an unfamiliar status makes no dispute")
}

// An inquiry, a dispute and a reopened dispute each need a look by a person; a closed dispute does not.
func TestDispute_finding(t *testing.T) {
	t.Parallel()
	due := time.Date(2026, 3, 31, 23, 59, 0, 0, time.UTC)
	for want, c := range map[string]struct{ was, now fsm.DisputeState }{
		"warning dp_1":  {"", fsm.DisputeWarning},
		"open dp_1":     {fsm.DisputeWarning, fsm.DisputeUnderReview},
		"reopened dp_1": {fsm.DisputeLost, fsm.DisputeOpen},
		"":              {fsm.DisputeOpen, fsm.DisputeWon},
	} {
		f := payment.Dispute{ProviderDisputeID: "dp_1", State: c.now, DueBy: due}.Finding(payment.Dispute{State: c.was})
		if want == "" {
			require.Nil(t, f)
			continue
		}
		require.Equal(t, &payment.Finding{
			Kind: payment.Disputed, About: payment.AboutDispute, AboutID: want,
			Text: "The cardholder disputes this payment. The provider accepts a response until 2026-03-31 23:59 UTC.",
		}, f)
	}
}
