package idempotency_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
)

const patience = time.Minute

func TestDuplicatesShareOneRun(t *testing.T) {
	t.Parallel()
	var f idempotency.Flights[int]
	for range 50 {
		const callers = 100
		var runs, shared atomic.Int32
		barrier, release := make(chan struct{}), make(chan struct{})
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				<-barrier
				v, joined, err := f.Do(t.Context(), request("a"), patience, func() (int, error) {
					defer runs.Add(1)
					<-release
					return 7, nil
				})
				if joined {
					shared.Add(1)
				}
				if v != 7 || err != nil {
					t.Errorf("got %d, %v", v, err)
				}
			})
		}
		close(barrier)
		close(release)
		all.Wait()
		require.EqualValues(t, callers, runs.Load()+shared.Load())
		require.GreaterOrEqual(t, runs.Load(), int32(1))
	}
}

func TestDuplicatesGetTheErrorOfTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f idempotency.Flights[int]
		broken := errors.New("broken")
		first := make(chan error, 1)
		go func() {
			_, _, err := f.Do(t.Context(), request("a"), patience, func() (int, error) {
				<-time.After(time.Second)
				return 0, broken
			})
			first <- err
		}()
		synctest.Wait()
		_, shared, err := f.Do(t.Context(), request("a"), patience, nil)
		require.True(t, shared)
		require.ErrorIs(t, <-first, broken)
		require.ErrorIs(t, err, broken)
		again, shared, err := f.Do(t.Context(), request("a"), patience, func() (int, error) { return 1, nil })
		require.False(t, shared, "what has ended is not joined")
		require.NoError(t, err)
		require.Equal(t, 1, again)
	})
}

// Of two requests with one key only the storage knows which came first: the
// loser of a race gets the truth from there (idempot-js #186).
func TestAnotherRequestWithTheKeyRunsByItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f idempotency.Flights[string]
		hold := make(chan struct{})
		go func() {
			_, _, _ = f.Do(t.Context(), request("a"), patience, func() (string, error) { <-hold; return "a", nil })
		}()
		synctest.Wait()
		v, shared, err := f.Do(t.Context(), request("b"), patience, func() (string, error) { return "b", idempotency.ErrKeyReused })
		require.False(t, shared)
		require.Equal(t, "b", v)
		require.ErrorIs(t, err, idempotency.ErrKeyReused)
		for _, other := range []idempotency.Request{
			{User: "u2", Endpoint: request("a").Endpoint, Key: request("a").Key, Hash: request("a").Hash},
			{User: "u1", Endpoint: "POST /v1/refunds", Key: request("a").Key, Hash: request("a").Hash},
			{User: "u1", Endpoint: request("a").Endpoint, Key: "another-key", Hash: request("a").Hash},
		} {
			_, shared, _ := f.Do(t.Context(), other, patience, func() (string, error) { return "", nil })
			require.False(t, shared)
		}
		close(hold)
	})
}

func TestAWaiterGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f idempotency.Flights[int]
		hold := make(chan struct{})
		go func() {
			_, _, _ = f.Do(t.Context(), request("a"), patience, func() (int, error) { <-hold; return 1, nil })
		}()
		synctest.Wait()

		began := time.Now()
		_, shared, err := f.Do(t.Context(), request("a"), 5*time.Second, nil)
		require.True(t, shared)
		require.ErrorIs(t, err, idempotency.ErrInProgress)
		require.Equal(t, 5*time.Second, time.Since(began))

		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("the client went away")
		cancel(gone)
		_, shared, err = f.Do(ctx, request("a"), patience, nil)
		require.True(t, shared)
		require.ErrorIs(t, err, gone, "a waiter's end is its own")
		close(hold)
		synctest.Wait()
		v, shared, err := f.Do(t.Context(), request("a"), patience, func() (int, error) { return 2, nil })
		require.NoError(t, err)
		require.False(t, shared)
		require.Equal(t, 2, v)
	})
}

// A runner that panics takes nobody with it: the others are told that the command
// is under way, which is what its storage says too, and the key is free here.
func TestAPanicOfTheRunnerLeavesNobodyWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f idempotency.Flights[int]
		hold := make(chan struct{})
		go func() {
			defer func() { _ = recover() }()
			_, _, _ = f.Do(t.Context(), request("a"), patience, func() (int, error) { <-hold; panic("oh") })
		}()
		synctest.Wait()
		const waiters = 10
		told := make(chan error, waiters)
		for range waiters {
			go func() {
				_, _, err := f.Do(t.Context(), request("a"), patience, nil)
				told <- err
			}()
		}
		synctest.Wait()
		close(hold)
		for range waiters {
			require.ErrorIs(t, <-told, idempotency.ErrInProgress)
		}
		_, shared, err := f.Do(t.Context(), request("a"), patience, func() (int, error) { return 1, nil })
		require.NoError(t, err)
		require.False(t, shared)
	})
}
