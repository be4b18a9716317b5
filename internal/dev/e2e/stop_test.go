package e2e_test

import (
	"errors"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/faults"
)

// TestStopUnderLoad: a service that gets a signal to stop answers all accepted requests, pays at a slow provider included. It
// keeps its acknowledged work, and ends with success and in time.
func TestStopUnderLoad(t *testing.T) {
	t.Parallel()
	const limit = 2 * soon
	r := newRig(t)
	s := r.serve("PAYLATCH_SHUTDOWN_TIMEOUT="+limit.String(), "PAYLATCH_PROVIDER_TIMEOUT=20m", "PAYLATCH_IDEMPOTENCY_LEASE=21m")
	held := r.hold(t, (*faults.Hold).After)
	slow := s.customer().begin(t)
	await(t, held)
	waiting := make(chan answer, 1)
	go func() { waiting <- s.customer().pay(t.Context(), slow.order, slow.key, "tok_success") }()
	l := newLoad(t, s)
	l.run(t, 8)
	eventually(t, "some load", func() bool { return l.counts() > 100 })

	began := time.Now()
	s.signal(syscall.SIGTERM)
	eventually(t, "nothing new is taken", func() bool {
		return errors.Is(client{base: s.base}.send(t.Context(), http.MethodGet, "/healthz", "").err, syscall.ECONNREFUSED)
	})
	l.stop()
	select {
	case <-s.done:
		require.Fail(t, "a pay is still under way")
	default:
	}
	held.Free()
	a := (<-slow.answer).attempt(t, http.StatusCreated)
	require.Equal(t, "succeeded", a.Status)
	require.Equal(t, a.ID, (<-waiting).attempt(t, http.StatusCreated).ID)
	within(t, "the end of the process", s.done)
	require.Zero(t, s.cmd.ProcessState.ExitCode())
	require.Less(t, time.Since(began), limit)
	require.Equal(t, "stopped", s.stderr.entries()[len(s.stderr.entries())-1].Message)

	accepted := 0
	for _, e := range s.stderr.entries() {
		answer, ours := l.told[e.RequestID]
		if e.Message != "request" || !ours {
			continue
		}
		accepted++
		require.NoError(t, answer.err, "what was accepted is answered")
		require.Equal(t, e.Status, answer.status)
		require.NotEqual(t, http.StatusInternalServerError, e.Status)
	}
	answered := 0
	for _, a := range l.told {
		if a.err == nil {
			answered++
		}
	}
	require.Equal(t, answered, accepted)

	s = r.serve()
	acked := append(l.heard, r.hooks.acknowledged()...) // first: the service acknowledges more while the rows are read
	stored := map[string]bool{}
	for _, id := range column[string](t, r, `SELECT provider_event_id FROM provider_events`) {
		stored[id] = true
	}
	for _, id := range acked {
		require.True(t, stored[id], "an acknowledged event is lost")
	}
	r.consistent(t)
	for _, id := range l.paid {
		require.Equal(t, "succeeded", one[string](t, r, `SELECT status::text FROM payment_attempts WHERE attempt_id = $1`, id))
	}
}

// TestStopCutsWhatTakesTooLong: the stop has a time limit, and the next service ends the work that was cut off.
func TestStopCutsWhatTakesTooLong(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.hooks.shut()
	s := r.serve("PAYLATCH_SHUTDOWN_TIMEOUT=200ms", "PAYLATCH_PROVIDER_TIMEOUT=20m", "PAYLATCH_IDEMPOTENCY_LEASE=21m")
	held := r.hold(t, (*faults.Hold).After)
	u := s.customer().begin(t)
	await(t, held)
	code, took := s.stop(t, syscall.SIGTERM)
	require.Equal(t, 1, code)
	require.Less(t, took, stopLimit)
	require.Error(t, (<-u.answer).err)
	held.Free()
	r.leasesEnd(t)

	c := r.serve().customer()
	again := c.pay(t.Context(), u.order, u.key, "tok_success").attempt(t, http.StatusCreated)
	require.Equal(t, "succeeded", c.settled(t, again.ID).Status)
	r.charged(t, again.ID, 1999)
}

// TestStopWhenIdle is at once, by either signal.
func TestStopWhenIdle(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, by := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		s := r.serve()
		s.customer().order(t)
		code, took := s.stop(t, by)
		require.Zero(t, code)
		require.Less(t, took, stopLimit)
	}
}
