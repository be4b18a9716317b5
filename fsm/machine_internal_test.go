package fsm

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// looplab keeps the last of two rows with one (event, source), without an error.
func TestEveryCellIsWrittenOnce(t *testing.T) {
	t.Parallel()
	t.Run("attempt", func(t *testing.T) { t.Parallel(); writtenOnce(t, attempts) })
	t.Run("payment", func(t *testing.T) { t.Parallel(); writtenOnce(t, paymentsOf) })
	t.Run("refund", func(t *testing.T) { t.Parallel(); writtenOnce(t, refunds) })
	t.Run("operation", func(t *testing.T) { t.Parallel(); writtenOnce(t, operations) })
	t.Run("dispute", func(t *testing.T) { t.Parallel(); writtenOnce(t, disputes) })
}

func writtenOnce[S ~string](t *testing.T, m *machine[S]) {
	t.Helper()
	type cell struct {
		state S
		news  Event
	}
	written := make(map[cell]bool)
	write := func(news Event, states []S) {
		for _, s := range states {
			require.Contains(t, m.states, s)
			require.False(t, written[cell{s, news}], "%s in %s has two rows", news, s)
			written[cell{s, news}] = true
		}
	}
	for _, mv := range m.moves {
		require.Contains(t, m.states, mv.to)
		require.NotContains(t, mv.from, mv.to, "%s stays where it is: a still", mv.news)
		write(mv.news, mv.from)
	}
	for _, st := range m.stills {
		write(st.news, st.in)
	}
}
