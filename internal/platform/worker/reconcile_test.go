package worker_test

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/worker"
)

// desk has so many operations due, until they are carried out, which takes a second each. While it is broken they stay
// due.
type desk struct {
	due    []payment.OperationName
	broken error

	mu            sync.Mutex
	running, most int
	causes        map[payment.Cause]int
}

// newDesk has n operations due, of all kinds.
func newDesk(n int) *desk {
	kinds := []payment.OperationKind{payment.OperationCharge, payment.OperationCancel, payment.OperationRefund, payment.OperationCheck}
	d := &desk{causes: map[payment.Cause]int{}}
	for i := range n {
		d.due = append(d.due, payment.OperationName{AttemptID: payment.AttemptID(uuid.Must(uuid.NewV7())), Kind: kinds[i%len(kinds)]})
	}
	return d
}

func (*desk) DueAccounts(context.Context) ([]string, error) { return []string{"sandbox"}, nil }

func (d *desk) Due(_ context.Context, _ string, limit int) ([]payment.OperationName, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.due[:min(limit, len(d.due))]), nil
}

func (d *desk) Execute(_ context.Context, name payment.OperationName, cause payment.Cause) (payment.Attempt, error) {
	a := payment.Attempt{ID: name.AttemptID, OrderID: "A-1", State: fsm.Authorized}
	d.mu.Lock()
	d.running++
	d.most = max(d.most, d.running)
	d.mu.Unlock()
	time.Sleep(time.Second)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running--
	d.causes[cause]++
	if d.broken == nil { // the error belongs to an operation, not to the loop
		d.due = slices.DeleteFunc(d.due, func(o payment.OperationName) bool { return o == name })
	}
	return a, d.broken
}

// turn is a turn of a loop, with all the work that it begins.
func turn(t *testing.T, ctx context.Context, loop worker.Loop) { //nolint:revive // the context may be another than the test's
	t.Helper()
	_, err := loop.Do(ctx)
	loop.Rest()
	require.NoError(t, err)
}

func TestReconcile(t *testing.T) {
	t.Parallel()
	t.Run("carries_out_all_that_is_due_a_few_at_a_time", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(100)
			turn(t, t.Context(), worker.Reconcile(d, time.Second, zerolog.Nop()))
			require.Equal(t, map[payment.Cause]int{{Kind: payment.CauseCheck, ID: "reconcile"}: 100}, d.causes)
			require.Equal(t, 8, d.most)
		})
	})
	// An operation that can't be written stays due. Without a pause its tries would load the database, and fill the log,
	// during an outage of the database.
	t.Run("leaves_what_fails_to_the_next_turn", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(100)
			d.broken = errGone
			turn(t, t.Context(), worker.Reconcile(d, time.Second, zerolog.Nop()))
			require.Equal(t, map[payment.Cause]int{{Kind: payment.CauseCheck, ID: "reconcile"}: 64}, d.causes)
		})
	})
	t.Run("waits_at_the_end_for_what_is_under_way", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(64)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(500*time.Millisecond, cancel)
			turn(t, ctx, worker.Reconcile(d, time.Second, zerolog.Nop()))
			require.Len(t, d.due, 64-8)
			require.Zero(t, d.running)
		})
	})
	for want, broken := range map[string]error{
		`"operation":"charge","number":0,"state":"authorized","message":"executed"`: nil,
		`"error":"storage gone","message":"an operation failed"`:                    errGone,
		"": payment.ErrBusy,
	} {
		t.Run("logs_"+want, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(1)
				d.broken = broken
				var lines bytes.Buffer
				turn(t, t.Context(), worker.Reconcile(d, time.Second, zerolog.New(&lines)))
				require.Contains(t, lines.String(), want)
				require.Equal(t, want == "", lines.Len() == 0, "another runner has it: nothing to log")
			})
		})
	}
}
