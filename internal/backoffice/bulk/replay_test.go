package bulk_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/bulk"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

const once = `SELECT count(*) FROM payment_attempts WHERE status = 'succeeded' AND amount_captured = 1999`

func TestReplayThousandsAsOneAct(t *testing.T) {
	t.Parallel()
	n := 1000
	if os.Getenv("PAYLATCH_LARGE") != "" {
		n = 5000
	} else {
		t.Log("1,000 events; 5,000 with PAYLATCH_LARGE=1")
	}
	r := newEnv(t)
	r.parked(t, n)
	r.attempts(t, n)
	r.named(t)

	tried, err := r.bulk.Try(t.Context(), ada, unmatched())
	require.NoError(t, err)
	require.Equal(t, bulk.Counts{Total: int64(n), By: map[string]int64{"unmatched": int64(n)}}, tried)
	require.Zero(t, one[int](t, r, "SELECT count(*) FROM support_jobs"))
	require.Zero(t, one[int](t, r, once), "a dry run changes nothing")
	require.Equal(t, int64(n), one[int64](t, r, "SELECT count(*) FROM provider_events WHERE verdict = 'unmatched'"))

	j, err := r.bulk.Begin(t.Context(), ada, unmatched())
	require.NoError(t, err)
	require.Equal(t, bulk.Running, j.State)
	again, err := r.bulk.Begin(t.Context(), ada, unmatched())
	require.NoError(t, err)
	require.Equal(t, j.ID, again.ID, "a double click")
	var running *bulk.RunningError
	_, err = r.bulk.Begin(t.Context(), sam, unmatched())
	require.ErrorAs(t, err, &running)
	require.Equal(t, j.ID, running.Job.ID)

	j = r.through(t, r.runner(t), j.ID)
	require.Equal(t, bulk.Done, j.State)
	t.Logf("%d in %v", n, j.FinishedAt.Sub(j.CreatedAt))
	require.Equal(t, int64(n), j.Done)
	require.Equal(t, map[string]int64{"applied": int64(n)}, j.Results)
	require.Equal(t, n, one[int](t, r, once))
	require.Equal(t, n, one[int](t, r, "SELECT count(*) FROM support_job_items WHERE outcome = 'applied'"))
	require.Equal(t, n, one[int](t, r, "SELECT count(*) FROM money_movements"), "each once")
	require.Equal(t, []string{
		"ada events.replay.view begun", "ada events.replay begun", "sam events.replay refused", "ada events.replay done",
	}, strings.Split(strings.Replace(strings.Join(r.acts(t), ","), "view done", "view begun", 1), ","))
	require.Equal(t, 1, one[int](t, r, "SELECT count(DISTINCT deed_id) FROM staff_audit WHERE action = 'events.replay' AND actor = 'ada'"))
	require.Equal(t, []string{fmt.Sprintf(`{"done": %[1]d, "total": %[1]d, "status": "done", "results": {"applied": %[1]d}}`, n)},
		rows(t, r, "SELECT detail::text FROM staff_audit WHERE action = 'events.replay' AND outcome = 'done'"))
	chain := support.Chain{}
	_, err = chain.Follow(t.Context(), r.store.Support(), 100)
	require.NoError(t, err)
	require.Nil(t, chain.Broken)

	page, err := r.desk.Attempt(t.Context(), sam, payment.AttemptID(one[uuid.UUID](t, r, "SELECT attempt_id FROM payment_attempts WHERE order_id = 'A-7'")))
	require.NoError(t, err)
	last := page.Timeline[len(page.Timeline)-1]
	for _, e := range page.Timeline {
		if e.Kind == support.EntryStaff {
			last = e
		}
	}
	require.Equal(t, "ada replayed a webhook, in a bulk job. Reason: "+reason, last.Text)
	require.Equal(t, j.ID.String(), last.Detail["job_id"])
}

// The process dies within a replay, and its lease runs out.
func TestReplayGoesOnAfterADeath(t *testing.T) {
	t.Parallel()
	const n, until = 60, 25
	r := newEnv(t)
	r.parked(t, n)
	r.attempts(t, n)
	r.named(t)
	j, err := r.bulk.Begin(t.Context(), sam, unmatched())
	require.NoError(t, err)

	ctx, kill := context.WithCancel(t.Context())
	var replays atomic.Int32
	dies := func() error {
		if replays.Add(1) > until {
			kill()
			return ctx.Err()
		}
		return nil
	}
	r.during.Store(&dies)
	dead := r.runner(t)
	dead.Queue = unreleased{dead.Queue}
	_, err = dead.Work(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, int64(until), r.job(t, j.ID).Done)
	r.during.Store(nil)

	more, err := r.runner(t).Work(t.Context())
	require.NoError(t, err)
	require.False(t, more, "another process has the lease")
	require.Equal(t, int64(until), r.job(t, j.ID).Done)
	_, err = r.db.Exec(t.Context(), "UPDATE support_jobs SET lease_until = now() - interval '1 second'")
	require.NoError(t, err)
	j = r.through(t, r.runner(t), j.ID)
	require.Equal(t, map[string]int64{"applied": n}, j.Results)
	require.Equal(t, n, one[int](t, r, once))
	require.Equal(t, n, one[int](t, r, "SELECT count(*) FROM money_movements"))
	require.Equal(t, []string{"sam events.replay begun", "sam events.replay done"}, r.acts(t))
}

// unreleased is the queue of a process that is killed.
type unreleased struct{ bulk.Queue }

func (unreleased) Release(context.Context, bulk.Held) error { return nil }

// A process that slept through its lease wakes within a replay: its replay is rolled back.
func TestReplayByOneThatLostItsLease(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	r.parked(t, 3)
	r.attempts(t, 3)
	r.named(t)
	j, err := r.bulk.Begin(t.Context(), sam, unmatched())
	require.NoError(t, err)
	var slept atomic.Bool
	sleeps := func() error {
		if slept.CompareAndSwap(false, true) {
			_, err := r.db.Exec(t.Context(), "UPDATE support_jobs SET fence = fence + 1, lease_until = now() - interval '1 second'")
			return err
		}
		return nil
	}
	r.during.Store(&sleeps)
	_, err = r.runner(t).Work(t.Context())
	require.NoError(t, err)
	require.Zero(t, r.job(t, j.ID).Done)
	require.Zero(t, one[int](t, r, once))
	require.Equal(t, map[string]int64{"applied": 3}, r.through(t, r.runner(t), j.ID).Results)
}

func TestReplayByTwoProcesses(t *testing.T) {
	t.Parallel()
	const n = 400
	r := newEnv(t)
	r.parked(t, n)
	r.attempts(t, n)
	r.named(t)
	j, err := r.bulk.Begin(t.Context(), sam, unmatched())
	require.NoError(t, err)
	var both sync.WaitGroup
	errs := make(chan error, 2)
	for range 2 {
		by := r.runner(t)
		both.Go(func() {
			for r.running(t.Context(), j.ID) {
				_, err := by.Work(t.Context())
				if errors.Is(err, payment.ErrUnavailable) {
					continue // PostgreSQL ended a transaction that a busy machine kept waiting; the program's loop goes on, too
				}
				if err != nil {
					errs <- err
					return
				}
			}
		})
	}
	both.Wait()
	close(errs)
	require.NoError(t, <-errs)
	require.Equal(t, map[string]int64{"applied": n}, r.job(t, j.ID).Results)
	require.Equal(t, n, one[int](t, r, "SELECT count(*) FROM money_movements"))
	require.Equal(t, []string{"sam events.replay begun", "sam events.replay done"}, r.acts(t))
}

func (r *env) running(ctx context.Context, id uuid.UUID) bool {
	j, err := r.store.Jobs().Job(ctx, id)
	return err == nil && j.State == bulk.Running
}

func TestReplayGoesOnAfterAFault(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	r.parked(t, 4)
	r.attempts(t, 4)
	r.named(t)
	j, err := r.bulk.Begin(t.Context(), sam, unmatched())
	require.NoError(t, err)
	var n atomic.Int32
	fails := func() error {
		switch n.Add(1) {
		case 1:
			panic("a fault of the program")
		case 2:
			return errors.New("another one")
		case 3:
			return payment.ErrUnavailable
		}
		return nil
	}
	r.during.Store(&fails)
	_, err = r.runner(t).Work(t.Context())
	require.ErrorIs(t, err, payment.ErrUnavailable, "the loop reports a storage that is gone")
	require.Equal(t, int64(2), r.job(t, j.ID).Done)
	j = r.through(t, r.runner(t), j.ID)
	require.Equal(t, map[string]int64{"internal": 2, "applied": 2}, j.Results)
	require.Equal(t, 2, one[int](t, r, once))
}

func TestStop(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	r.parked(t, 6)
	r.attempts(t, 6)
	r.named(t)
	j, err := r.bulk.Begin(t.Context(), ada, unmatched())
	require.NoError(t, err)
	_, err = r.bulk.Stop(t.Context(), sam, j.ID, reason)
	require.ErrorIs(t, err, payment.ErrForbidden, "support stops its own")
	var invalid *payment.ValidationError
	_, err = r.bulk.Stop(t.Context(), ada, j.ID, " ")
	require.ErrorAs(t, err, &invalid)
	_, err = r.bulk.Stop(t.Context(), ada, uuid.New(), reason)
	require.ErrorIs(t, err, payment.ErrJobNotFound)

	var n atomic.Int32
	stops := func() error {
		if n.Add(1) < 3 {
			return nil
		}
		_, err := r.bulk.Stop(t.Context(), ada, j.ID, "enough")
		return err
	}
	r.during.Store(&stops)
	more, err := r.runner(t).Work(t.Context())
	require.NoError(t, err)
	require.False(t, more)
	j = r.job(t, j.ID)
	require.Equal(t, bulk.Stopped, j.State)
	require.NotNil(t, j.FinishedAt)
	require.Equal(t, int64(2), j.Done)
	require.Equal(t, 2, one[int](t, r, once), "what was under way when it was stopped is undone")
	more, err = r.runner(t).Work(t.Context())
	require.NoError(t, err)
	require.False(t, more)
	require.Equal(t, []string{
		"ada events.replay begun", "sam job.stop refused", "ada job.stop refused", "ada job.stop done", "ada events.replay done",
	}, r.acts(t))
	again, err := r.bulk.Stop(t.Context(), ada, j.ID, reason)
	require.NoError(t, err)
	require.Equal(t, j, again, "once more changes nothing")

	r.during.Store(nil)
	next, err := r.bulk.Begin(t.Context(), sam, unmatched())
	require.NoError(t, err)
	require.Equal(t, int64(4), next.Total)
	require.Equal(t, map[string]int64{"applied": 4}, r.through(t, r.runner(t), next.ID).Results)
}
