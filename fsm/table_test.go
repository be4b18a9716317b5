package fsm_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
)

func TestEveryStateAndNewsHasARow(t *testing.T) {
	t.Parallel()
	for _, state := range fsm.States() {
		for _, news := range fsm.AllNews() {
			step, err := fsm.Next(state, news)
			require.NoError(t, err, "%s in %s", news, state)
			require.Contains(t, fsm.Table(), fsm.Row{News: news, Step: step})
		}
	}
	require.Len(t, fsm.Table(), len(fsm.States())*len(fsm.AllNews()))
}

func TestNewsOfAPaymentIsUnknownToARefund(t *testing.T) {
	t.Parallel()
	ofPayments := []fsm.News{fsm.NewsAuthorized, fsm.NewsSoftFailed, fsm.NewsDisputed}
	for _, state := range fsm.RefundStates() {
		for _, news := range fsm.AllNews() {
			step, err := fsm.NextRefund(state, news)
			if slices.Contains(ofPayments, news) {
				require.ErrorIs(t, err, fsm.ErrNews)
				require.Equal(t, fsm.RefundStep{From: state, To: state}, step)
				continue
			}
			require.NoError(t, err, "%s in %s", news, state)
			require.Contains(t, fsm.RefundTable(), fsm.RefundRow{News: news, RefundStep: step})
		}
	}
	require.Len(t, fsm.RefundTable(), len(fsm.RefundStates())*(len(fsm.AllNews())-len(ofPayments)))
}

func TestWhatThePackageDoesNotHaveIsAnError(t *testing.T) {
	t.Parallel()
	step, err := fsm.Next("paid", fsm.NewsFailed)
	require.ErrorIs(t, err, fsm.ErrState)
	require.Equal(t, fsm.Step{From: "paid", To: "paid"}, step)

	step, err = fsm.Next(fsm.Processing, "charged")
	require.ErrorIs(t, err, fsm.ErrNews)
	require.Equal(t, fsm.Step{From: fsm.Processing, To: fsm.Processing}, step)

	_, err = fsm.NextRefund("paid", fsm.NewsFailed)
	require.ErrorIs(t, err, fsm.ErrState)
}

func TestStatusMovesOnceAndRankNeverFalls(t *testing.T) {
	t.Parallel()
	for _, row := range fsm.Table() {
		require.True(t, forward(row.Step), "%s moves %s to %s", row.News, row.From, row.To)
		if row.Moved() {
			require.Equal(t, fsm.Applied, row.Verdict)
		}
	}
	for _, row := range fsm.RefundTable() {
		require.True(t, refundForward(row.RefundStep), "%s moves %s to %s", row.News, row.From, row.To)
		if row.Moved() {
			require.Equal(t, fsm.Applied, row.Verdict)
		}
	}
}

// forward says that a step keeps its place or rises, and that a final state,
// the status with it, stays for ever.
func forward(step fsm.Step) bool {
	if !step.Moved() {
		return true
	}
	rose := slices.Index(fsm.States(), step.To) > slices.Index(fsm.States(), step.From)
	return rose && !step.From.Final() &&
		step.From.Status() == fsm.StatusPending && step.To.Final() == (step.To.Status() != fsm.StatusPending)
}

func refundForward(step fsm.RefundStep) bool {
	return !step.Moved() || step.From == fsm.RefundPending && step.To.Final()
}
