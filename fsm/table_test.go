package fsm_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
)

func TestMachines(t *testing.T) {
	t.Parallel()
	t.Run("attempt", func(t *testing.T) { t.Parallel(); isTotal(t, attemptLife()) })
	t.Run("payment", func(t *testing.T) { t.Parallel(); isTotal(t, paymentLife()) })
	t.Run("refund", func(t *testing.T) { t.Parallel(); isTotal(t, refundLife()) })
	t.Run("operation", func(t *testing.T) { t.Parallel(); isTotal(t, operationLife()) })
	t.Run("dispute", func(t *testing.T) { t.Parallel(); isTotal(t, disputeLife()) })
}

// isTotal tries every event in every state, and what the machine does not have.
func isTotal[S ~string](t *testing.T, m life[S]) {
	t.Helper()
	for _, from := range m.states {
		for _, event := range m.events {
			m.check(t, from, event)
		}
		m.check(t, from, "charged")
		m.check(t, from, "")
	}
	m.check(t, "paid", m.events[0])
	m.check(t, "", "")
}

// check holds for any arguments.
func (m life[S]) check(t *testing.T, from S, event string) {
	t.Helper()
	to, verdict, err := m.next(from, event)
	known := slices.Contains(m.states, from) && slices.Contains(m.events, event)
	if !known || m.never(from, event) {
		require.Error(t, err, "%s in %s", event, from)
		require.Equal(t, from, to)
		require.Empty(t, verdict)
		return
	}
	require.NoError(t, err, "%s in %s", event, from)
	require.Contains(t, []fsm.Verdict{fsm.Applied, fsm.Repeat, fsm.Stale, fsm.Conflict}, verdict)
	if to != from {
		require.True(t, m.forward(from, to), "%s moves %s to %s", event, from, to)
		require.Equal(t, fsm.Applied, verdict)
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	for _, row := range fsm.Table() {
		step, err := fsm.Next(row.From, row.Event)
		require.NoError(t, err)
		require.Equal(t, step, row.Step)
	}
	require.Len(t, fsm.Table(), 7*11)
	for _, row := range fsm.PaymentTable() {
		step, err := fsm.NextPayment(row.From, row.Event)
		require.NoError(t, err)
		require.Equal(t, step, row.PaymentStep)
	}
	require.Len(t, fsm.PaymentTable(), 6*9)
	for _, row := range fsm.RefundTable() {
		step, err := fsm.NextRefund(row.From, row.Event)
		require.NoError(t, err)
		require.Equal(t, step, row.RefundStep)
	}
	require.Len(t, fsm.RefundTable(), 3*(9-4))
	for _, row := range fsm.OperationTable() {
		step, err := fsm.NextOperation(row.From, row.Event)
		require.NoError(t, err)
		require.Equal(t, step, row.OperationStep)
	}
	require.Len(t, fsm.OperationTable(), 8*9-3-1-2-2)
}

func TestErrors(t *testing.T) {
	t.Parallel()
	_, err := fsm.Next("paid", fsm.EventFailed)
	require.ErrorIs(t, err, fsm.ErrState)
	_, err = fsm.Next(fsm.Processing, "charged")
	require.ErrorIs(t, err, fsm.ErrEvent)
	_, err = fsm.NextRefund("paid", fsm.EventFailed)
	require.ErrorIs(t, err, fsm.ErrState)
	_, err = fsm.NextRefund(fsm.RefundPending, fsm.EventDisputed)
	require.ErrorIs(t, err, fsm.ErrEvent)
	_, err = fsm.NextOperation("paid", fsm.OperationSend)
	require.ErrorIs(t, err, fsm.ErrState)
	_, err = fsm.NextOperation(fsm.OperationSent, fsm.OperationWithdraw)
	require.ErrorIs(t, err, fsm.ErrEvent)
	_, err = fsm.NextDispute("paid", fsm.DisputeWon, true)
	require.ErrorIs(t, err, fsm.ErrState)
	_, err = fsm.NextDispute(fsm.DisputeOpen, "paid", false)
	require.ErrorIs(t, err, fsm.ErrState)
	_, err = fsm.NextDispute(fsm.DisputeOpen, "dated won", false)
	require.ErrorIs(t, err, fsm.ErrState)
}

// What was sent, or may have been, never ends as if it had not been wanted; what was not is
// never taken for lost.
func TestNextOperation(t *testing.T) {
	t.Parallel()
	for _, row := range fsm.OperationTable() {
		if row.To == fsm.OperationWithdrawn && row.Moved() {
			require.Equal(t, fsm.OperationWanted, row.From)
		}
		if !row.From.Open() {
			require.Equal(t, fsm.Stale, row.Verdict)
		}
		if row.Event == fsm.OperationAsk {
			require.NotEqual(t, fsm.OperationSent, row.To, "a lookup sends nothing")
		}
	}
}

// A report without a time never opens a closed dispute, and one with a time always counts.
func TestNextDispute(t *testing.T) {
	t.Parallel()
	for _, from := range fsm.DisputeStates() {
		for _, reported := range fsm.DisputeStates() {
			step, err := fsm.NextDispute(from, reported, true)
			require.NoError(t, err)
			require.Equal(t, reported, step.To)
			require.Equal(t, from != reported, step.Moved())
			step, err = fsm.NextDispute(from, reported, false)
			require.NoError(t, err)
			if from.Closed() && !reported.Closed() || from != fsm.DisputeWarning && reported == fsm.DisputeWarning {
				require.Equal(t, fsm.DisputeStep{From: from, To: from, Verdict: fsm.Stale}, step)
			}
		}
	}
}
