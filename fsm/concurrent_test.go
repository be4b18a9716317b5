package fsm_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
)

// Steps share machines by a pool: leftovers of one step must not reach another step.
func TestStepsDoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	rows, refundRows, operationRows := fsm.Table(), fsm.RefundTable(), fsm.OperationTable()
	var wrong atomic.Int64
	var done sync.WaitGroup
	begin := make(chan struct{})
	for worker := range 16 {
		done.Go(func() {
			<-begin
			for i := range 2000 {
				row := rows[(i+worker*5)%len(rows)]
				if step, err := fsm.Next(row.From, row.Event); err != nil || step != row.Step {
					wrong.Add(1)
				}
				refund := refundRows[(i+worker)%len(refundRows)]
				if step, err := fsm.NextRefund(refund.From, refund.Event); err != nil || step != refund.RefundStep {
					wrong.Add(1)
				}
				operation := operationRows[(i+worker*3)%len(operationRows)]
				if step, err := fsm.NextOperation(operation.From, operation.Event); err != nil || step != operation.OperationStep {
					wrong.Add(1)
				}
			}
		})
	}
	close(begin)
	done.Wait()
	require.Zero(t, wrong.Load())
}
