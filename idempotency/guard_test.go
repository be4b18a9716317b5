package idempotency_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
)

func guard(m *memory) *idempotency.Guard {
	return &idempotency.Guard{Store: m, Wait: 5 * time.Second, Lease: lease}
}

func says(status int, body string) idempotency.Command {
	return func(context.Context, bool) (idempotency.Response, error) {
		return idempotency.Response{Status: status, Body: []byte(body)}, nil
	}
}

func TestGuardRunsACommandOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		here, elsewhere := guard(m), guard(m)
		var runs, created atomic.Int32
		barrier := make(chan struct{})
		var all sync.WaitGroup
		for i := range 100 {
			g := []*idempotency.Guard{here, elsewhere}[i%2]
			all.Go(func() {
				<-barrier
				a, result, err := g.Do(t.Context(), request("a"), keep, func(context.Context, bool) (idempotency.Response, error) {
					runs.Add(1)
					return idempotency.Response{Status: 201, Body: []byte("made")}, nil
				})
				if err != nil || string(a.Body) != "made" {
					t.Errorf("got %s, %v", a.Body, err)
				}
				if result == idempotency.Created {
					created.Add(1)
				}
			})
		}
		close(barrier)
		all.Wait()
		require.EqualValues(t, 1, runs.Load())
		require.EqualValues(t, 1, created.Load())
		_, _, err := here.Do(t.Context(), request("b"), keep, says(201, "other"))
		require.ErrorIs(t, err, idempotency.ErrKeyReused)
	})
}

// Keys don't stick after a 5xx (autumn #1851).
func TestGuardKeepsWhatWasDecidedAndNothingElse(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, c := range []struct {
		name  string
		first idempotency.Command
		want  string
	}{
		{"2xx", says(201, "first"), "first"},
		{"4xx", says(409, "first"), "first"},
		{"5xx", says(500, "first"), "second"},
		{"an error", func(context.Context, bool) (idempotency.Response, error) { return idempotency.Response{}, broken }, "second"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := guard(newMemory())
			_, _, _ = g.Do(t.Context(), request("a"), keep, c.first)
			a, _, err := g.Do(t.Context(), request("a"), keep, says(201, "second"))
			require.NoError(t, err)
			require.Equal(t, c.want, string(a.Body))
		})
	}
}

func TestGuardKeepsARefusalForAShorterTime(t *testing.T) {
	t.Parallel()
	m := newMemory()
	g := guard(m)
	_, _, err := g.Do(t.Context(), request("a"), 72*time.Hour, says(409, "refused"))
	require.NoError(t, err)
	m.leap(idempotency.KeepRefused)
	a, _, err := g.Do(t.Context(), request("a"), 72*time.Hour, says(201, "made"))
	require.NoError(t, err)
	require.Equal(t, "made", string(a.Body))
}

// If another runner takes the key over, the first runner must stop, and its response is not kept.
func TestGuardFencesARunnerThatWasSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		first, second := guard(m), guard(m)
		frozen := make(chan error)
		go func() {
			_, _, err := first.Do(t.Context(), request("a"), keep, func(ctx context.Context, _ bool) (idempotency.Response, error) {
				<-ctx.Done()
				return idempotency.Response{Status: 201, Body: []byte("woken")}, nil
			})
			frozen <- err
		}()
		synctest.Wait()
		_, _, err := second.Do(t.Context(), request("a"), keep, nil)
		require.ErrorIs(t, err, idempotency.ErrInProgress, "its lease is alive")

		m.leap(lease)
		after := false
		a, _, err := second.Do(t.Context(), request("a"), keep, func(_ context.Context, takenOver bool) (idempotency.Response, error) {
			after = takenOver
			return idempotency.Response{Status: 201, Body: []byte("second")}, nil
		})
		require.NoError(t, err)
		require.True(t, after)
		require.Equal(t, "second", string(a.Body))
		require.ErrorIs(t, <-frozen, idempotency.ErrFenced)
		a, result, err := first.Do(t.Context(), request("a"), keep, nil)
		require.NoError(t, err)
		require.Equal(t, idempotency.Reused, result)
		require.Equal(t, "second", string(a.Body))
	})
}

func TestGuardExtendsTheLeaseOfARunnerThatLives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		first, second := guard(m), guard(m)
		done, finish := make(chan error), make(chan struct{})
		go func() {
			_, _, err := first.Do(t.Context(), request("a"), keep, func(context.Context, bool) (idempotency.Response, error) {
				<-finish
				return idempotency.Response{Status: 201}, nil
			})
			done <- err
		}()
		synctest.Wait()
		for range 3 * lease / second.Wait {
			_, _, err := second.Do(t.Context(), request("a"), keep, nil)
			require.ErrorIs(t, err, idempotency.ErrInProgress)
		}
		close(finish)
		require.NoError(t, <-done)
	})
}

// A command in its key's own transaction is run again only where nothing was decided.
func TestGuardInTx(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		first int
		used  bool
	}{
		{200, true},
		{201, true},
		{302, true},
		{404, true},
		{409, true},
		{412, true},
		{400, false},
		{401, false},
		{403, false},
		{408, false},
		{413, false},
		{415, false},
		{422, false},
		{429, false},
		{500, false},
		{503, false},
	} {
		t.Run(strconv.Itoa(c.first), func(t *testing.T) {
			t.Parallel()
			g := guard(newMemory())
			answers := func(status int) idempotency.Effect {
				return func(context.Context) (idempotency.Response, error) { return idempotency.Response{Status: status}, nil }
			}
			a, result, err := g.InTx(t.Context(), request("a"), keep, answers(c.first))
			require.NoError(t, err)
			require.Equal(t, c.first, a.Status)
			require.Equal(t, idempotency.Created, result)
			a, result, err = g.InTx(t.Context(), request("a"), keep, answers(299))
			require.NoError(t, err)
			if c.used {
				require.Equal(t, c.first, a.Status)
				require.Equal(t, idempotency.Reused, result)
				_, _, err = g.InTx(t.Context(), request("b"), keep, answers(299))
				require.ErrorIs(t, err, idempotency.ErrKeyReused)
				return
			}
			require.Equal(t, 299, a.Status)
		})
	}
}

func TestGuardInTxKeepsARefusalForAShorterTime(t *testing.T) {
	t.Parallel()
	m := newMemory()
	g := guard(m)
	refuse := func(context.Context) (idempotency.Response, error) { return idempotency.Response{Status: 409}, nil }
	_, _, err := g.InTx(t.Context(), request("a"), 72*time.Hour, refuse)
	require.NoError(t, err)
	m.leap(idempotency.KeepRefused)
	a, _, err := g.InTx(t.Context(), request("b"), 72*time.Hour, func(context.Context) (idempotency.Response, error) {
		return idempotency.Response{Status: 201}, nil
	})
	require.NoError(t, err)
	require.Equal(t, 201, a.Status)
}

func TestGuardInTxOfAFailure(t *testing.T) {
	t.Parallel()
	g := guard(newMemory())
	broken := errors.New("broken")
	_, result, err := g.InTx(t.Context(), request("a"), keep, func(context.Context) (idempotency.Response, error) {
		return idempotency.Response{Status: 201}, broken
	})
	require.ErrorIs(t, err, broken)
	require.Empty(t, result)
	_, result, err = g.InTx(t.Context(), request("b"), keep, func(context.Context) (idempotency.Response, error) {
		return idempotency.Response{Status: 201}, nil
	})
	require.NoError(t, err, "the key was never used")
	require.Equal(t, idempotency.Created, result)
}
