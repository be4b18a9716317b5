package worker_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/worker"
)

// desk has so many attempts and refunds due, until they are asked about. An answer
// takes a second. While it is broken they stay due.
type desk struct {
	attempts []payment.AttemptID
	refunds  []payment.RefundID
	broken   error

	mu           sync.Mutex
	asking, most int
	causes       map[payment.Cause]int
}

func newDesk(n int) *desk {
	d := &desk{causes: map[payment.Cause]int{}}
	for range n {
		d.attempts = append(d.attempts, payment.AttemptID(uuid.Must(uuid.NewV7())))
		d.refunds = append(d.refunds, payment.RefundID(uuid.Must(uuid.NewV7())))
	}
	return d
}

func due[T any](d *desk, ids []T, limit int) ([]T, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]T(nil), ids[:min(limit, len(ids))]...), nil
}

func (*desk) DueAccounts(context.Context) ([]string, error) { return []string{"sandbox"}, nil }

func (d *desk) Due(_ context.Context, _ string, limit int) ([]payment.AttemptID, error) {
	return due(d, d.attempts, limit)
}

func (d *desk) DueRefunds(_ context.Context, _ string, limit int) ([]payment.RefundID, error) {
	return due(d, d.refunds, limit)
}

// ask takes what is asked about from those that are due.
func ask[T comparable](d *desk, ids *[]T, id T, cause payment.Cause) error {
	d.mu.Lock()
	d.asking++
	d.most = max(d.most, d.asking)
	d.mu.Unlock()
	time.Sleep(time.Second)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asking--
	d.causes[cause]++
	if d.broken != nil {
		return d.broken // that of the attempt, not of the loop
	}
	for i := range *ids {
		if (*ids)[i] == id {
			*ids = append((*ids)[:i:i], (*ids)[i+1:]...)
			break
		}
	}
	return nil
}

func (d *desk) Recheck(_ context.Context, id payment.AttemptID, cause payment.Cause) (payment.View, error) {
	return payment.View{Attempt: payment.Attempt{ID: id, OrderID: "A-1", State: fsm.Authorized}}, ask(d, &d.attempts, id, cause)
}

func (d *desk) RecheckRefund(_ context.Context, id payment.RefundID, cause payment.Cause) (payment.Refund, error) {
	return payment.Refund{ID: id, OrderID: "A-1", State: fsm.RefundPending}, ask(d, &d.refunds, id, cause)
}

var loops = map[string]func(worker.Reconciler, time.Duration, zerolog.Logger) worker.Loop{
	"attempts": worker.Reconcile, "refunds": worker.ReconcileRefunds,
}

// turn is one of a loop's, with all that it begins.
func turn(t *testing.T, ctx context.Context, loop worker.Loop) { //nolint:revive // the context may be another than the test's
	t.Helper()
	_, err := loop.Do(ctx)
	loop.Rest()
	require.NoError(t, err)
}

func TestAllThatIsDueIsAskedAboutAFewAtATime(t *testing.T) {
	t.Parallel()
	for name, loopOf := range loops {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(100)
				turn(t, t.Context(), loopOf(d, time.Second, zerolog.Nop()))
				require.Equal(t, map[payment.Cause]int{{Kind: payment.CauseCheck, ID: "reconcile"}: 100}, d.causes)
				require.Equal(t, 8, d.most)
			})
		})
	}
}

// What can't be written stays due: asked about without a pause it would load the
// database, and fill the log, while that is in need.
func TestWhatFailsWaitsForTheNextTurn(t *testing.T) {
	t.Parallel()
	for name, loopOf := range loops {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(100)
				d.broken = errGone
				turn(t, t.Context(), loopOf(d, time.Second, zerolog.Nop()))
				require.Equal(t, map[payment.Cause]int{{Kind: payment.CauseCheck, ID: "reconcile"}: 64}, d.causes)
			})
		})
	}
}

// Who stops waits for the questions that are under way, and for no others.
func TestNothingIsAskedAfterTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(64)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(500*time.Millisecond, cancel)
		turn(t, ctx, worker.Reconcile(d, time.Second, zerolog.Nop()))
		require.Len(t, d.attempts, 64-8)
		require.Zero(t, d.asking)
	})
}

func TestWhatAQuestionCameToIsLogged(t *testing.T) {
	t.Parallel()
	for want, broken := range map[string]error{
		`"state":"authorized","message":"checked"`: nil, `"error":"storage gone","message":"check failed"`: errGone, "": payment.ErrBusy,
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(1)
			d.broken = broken
			var lines bytes.Buffer
			turn(t, t.Context(), worker.Reconcile(d, time.Second, zerolog.New(&lines)))
			require.Contains(t, lines.String(), want)
			require.Equal(t, want == "", lines.Len() == 0, "that another asks is no news")
		})
	}
}
