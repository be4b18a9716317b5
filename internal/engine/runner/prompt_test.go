package runner_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/payment"
)

const (
	promptAtOnce = 8
	promptMost   = 256
)

// numbered are operations by their numbers.
func numbered(from, n int) []payment.OperationName {
	names := make([]payment.OperationName, n)
	for i := range names {
		names[i] = payment.OperationName{Kind: payment.OperationCancel, Number: from + i}
	}
	return names
}

// Few operations run at once, and few wait; Wanted itself waits for no operation.
func TestPrompt_isBounded(t *testing.T) {
	t.Parallel()
	var running, most, all atomic.Int32
	started, release := make(chan struct{}, promptAtOnce), make(chan struct{})
	var done sync.Map
	p := runner.NewPrompt(func(_ context.Context, name payment.OperationName, _ payment.Cause) (payment.Attempt, error) {
		n := running.Add(1)
		defer running.Add(-1)
		for was := most.Load(); n > was && !most.CompareAndSwap(was, n); was = most.Load() {
		}
		if name.Number < promptAtOnce {
			started <- struct{}{}
		}
		<-release
		done.Store(name.Number, true)
		all.Add(1)
		return payment.Attempt{}, nil
	})
	p.Wanted(numbered(0, promptAtOnce))
	for range promptAtOnce {
		<-started
	}
	p.Wanted(numbered(promptAtOnce, 4*promptMost))
	close(release)
	require.Eventually(t, func() bool { return all.Load() >= promptAtOnce+promptMost }, time.Minute, time.Millisecond)
	p.Close()
	require.EqualValues(t, promptAtOnce+promptMost, all.Load(), "what does not fit is left to the reconciler")
	require.EqualValues(t, promptAtOnce, most.Load())
	for i := range promptAtOnce + promptMost {
		_, was := done.Load(i)
		require.True(t, was, "%d was carried out", i)
	}
}

// Close waits for the running operations. After it no operation starts.
func TestPrompt_Close(t *testing.T) {
	t.Parallel()
	started, release := make(chan struct{}), make(chan struct{})
	var ended atomic.Int32
	p := runner.NewPrompt(func(context.Context, payment.OperationName, payment.Cause) (payment.Attempt, error) {
		started <- struct{}{}
		<-release
		ended.Add(1)
		return payment.Attempt{}, nil
	})
	p.Wanted(numbered(0, 1))
	<-started
	go close(release)
	p.Close()
	require.EqualValues(t, 1, ended.Load())
	p.Wanted(numbered(1, 3))
	p.Close()
	require.EqualValues(t, 1, ended.Load())
}

// An operation that panics takes no worker with it: as many as before go on.
func TestPrompt_survivesAPanic(t *testing.T) {
	t.Parallel()
	together := make(chan struct{}, promptAtOnce)
	full := make(chan struct{})
	var once sync.Once
	p := runner.NewPrompt(func(_ context.Context, name payment.OperationName, cause payment.Cause) (payment.Attempt, error) {
		if name.Number < 3*promptAtOnce {
			panic("no adapter should")
		}
		if cause.Kind != payment.CauseCheck {
			t.Errorf("the cause is %v", cause)
		}
		if together <- struct{}{}; len(together) == promptAtOnce {
			once.Do(func() { close(full) })
		}
		<-full
		return payment.Attempt{}, nil
	})
	p.Wanted(numbered(0, 4*promptAtOnce))
	<-full
	p.Close()
	require.Len(t, together, promptAtOnce)
}
