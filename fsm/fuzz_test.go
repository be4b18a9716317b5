package fsm_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
)

func FuzzNext(f *testing.F) {
	table := fsm.Table()
	for _, row := range table {
		f.Add(string(row.From), string(row.News))
	}
	f.Add("", "")
	f.Add("Requested", "succeeded ")
	f.Fuzz(func(t *testing.T, from, news string) {
		state, what := fsm.State(from), fsm.News(news)
		step, err := fsm.Next(state, what)
		require.Equal(t, state, step.From)
		require.True(t, forward(step))
		if slices.Contains(fsm.States(), state) && slices.Contains(fsm.AllNews(), what) {
			require.NoError(t, err)
			require.Contains(t, table, fsm.Row{News: what, Step: step})
			return
		}
		require.Error(t, err)
		require.Equal(t, fsm.Step{From: state, To: state}, step)
	})
}

func FuzzNextRefund(f *testing.F) {
	table := fsm.RefundTable()
	for _, row := range table {
		f.Add(string(row.From), string(row.News))
	}
	f.Add("", "")
	f.Add("pending", "disputed")
	f.Fuzz(func(t *testing.T, from, news string) {
		state := fsm.RefundState(from)
		step, err := fsm.NextRefund(state, fsm.News(news))
		require.Equal(t, state, step.From)
		require.True(t, refundForward(step))
		if err != nil {
			require.Equal(t, fsm.RefundStep{From: state, To: state}, step)
			return
		}
		require.Contains(t, table, fsm.RefundRow{News: fsm.News(news), RefundStep: step})
	})
}
