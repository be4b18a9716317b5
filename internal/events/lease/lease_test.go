package lease_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/paylatch/paylatch/internal/events/lease"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errStore = errors.New("no storage")

// register is a store of one lease, by the clock of the bubble.
type register struct {
	mu     sync.Mutex
	fence  int64
	until  time.Time
	broken bool
}

func (r *register) take(_ context.Context, name string, life time.Duration) (lease.Lease, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.until.After(time.Now()) {
		return lease.Lease{}, lease.ErrHeld
	}
	r.fence++
	r.until = time.Now().Add(life)
	return lease.Lease{Name: name, Fence: r.fence}, nil
}

func (r *register) renew(_ context.Context, l lease.Lease, life time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.broken:
		return errStore
	case l.Fence != r.fence:
		return lease.ErrLost
	}
	r.until = time.Now().Add(life)
	return nil
}

// interrupt has the store fail from now on, or not any more.
func (r *register) interrupt(broken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = broken
}

// process holds the lease of a register.
type process struct {
	lease.Holder

	mu     sync.Mutex
	works  int
	failed []error
}

func (r *register) process(work func(ctx context.Context, l lease.Lease) error) *process {
	p := &process{}
	p.Holder = lease.Holder{Name: "x", Times: lease.Usual(), Take: r.take, Renew: r.renew, Log: func(err error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.failed = append(p.failed, err)
	}}
	p.Work = func(ctx context.Context, l lease.Lease) error {
		p.mu.Lock()
		p.works++
		p.mu.Unlock()
		return work(ctx, l)
	}
	return p
}

// count is how often it began to work.
func (p *process) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.works
}

// until waits for the end of its context.
func until(ctx context.Context, _ lease.Lease) error {
	<-ctx.Done()
	return nil
}

func TestHolder(t *testing.T) {
	t.Parallel()
	t.Run("one of two works, and the other at once after its end", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, takesTurns)
	})
	t.Run("stops when the store does not answer for a lease's life", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, losesIt)
	})
	t.Run("goes on after a panic of the work", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, worksAgain)
	})
	t.Run("goes on after a panic of the store", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, storePanics)
	})
}

func takesTurns(t *testing.T) {
	r := &register{}
	first, second := r.process(until), r.process(until)
	ctx, cancel := context.WithCancel(t.Context())
	stopped, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { first.Run(ctx) })
	synctest.Wait()
	running.Go(func() { second.Run(stopped) })
	time.Sleep(10 * time.Minute)
	synctest.Wait()
	require.Equal(t, 1, first.count())
	require.Zero(t, second.count())
	cancel()
	time.Sleep(6 * time.Second)
	synctest.Wait()
	require.Equal(t, 1, second.count(), "the lease was given back")
	stop()
	running.Wait()
	require.Empty(t, append(first.failed, second.failed...))
}

func losesIt(t *testing.T) {
	r := &register{}
	var worked time.Duration
	p := r.process(func(ctx context.Context, _ lease.Lease) error {
		began := time.Now()
		<-ctx.Done()
		worked = time.Since(began)
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { p.Run(ctx) })
	synctest.Wait()
	r.interrupt(true)
	time.Sleep(time.Minute)
	synctest.Wait()
	require.Equal(t, 30*time.Second, worked)
	r.interrupt(false)
	cancel()
	running.Wait()
}

func worksAgain(t *testing.T) {
	r := &register{}
	var once sync.Once
	p := r.process(func(ctx context.Context, l lease.Lease) error {
		once.Do(func() { panic("odd") })
		return until(ctx, l)
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { p.Run(ctx) })
	synctest.Wait()
	require.Equal(t, 1, p.count())
	time.Sleep(6 * time.Second)
	synctest.Wait()
	require.Equal(t, 2, p.count(), "the lease was given back, and taken after the pause")
	cancel()
	running.Wait()
	require.Len(t, p.failed, 1)
	failed, ok := errors.AsType[*lease.PanicError](p.failed[0])
	require.True(t, ok)
	require.Equal(t, "odd", failed.Value)
	require.Contains(t, string(failed.Stack), "lease_test.go")
}

func storePanics(t *testing.T) {
	r := &register{}
	p := r.process(until)
	takes := 0
	p.Take = func(ctx context.Context, name string, life time.Duration) (lease.Lease, error) {
		if takes++; takes == 1 {
			panic("take")
		}
		return r.take(ctx, name, life)
	}
	renews := 0
	p.Renew = func(ctx context.Context, l lease.Lease, life time.Duration) error {
		if renews++; renews == 2 {
			panic("renew")
		}
		return r.renew(ctx, l, life)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { p.Run(ctx) })
	time.Sleep(time.Minute)
	synctest.Wait()
	cancel()
	running.Wait()
	require.Equal(t, 2, p.count())
	require.Len(t, p.failed, 2)
	for i, want := range []string{"take", "renew"} {
		failed, ok := errors.AsType[*lease.PanicError](p.failed[i])
		require.True(t, ok)
		require.Equal(t, want, failed.Value)
	}
}

func TestUntil(t *testing.T) {
	t.Parallel()
	var logged []error
	tries := 0
	done := lease.Until(t.Context(), time.Millisecond, func(context.Context) error {
		switch tries++; tries {
		case 1:
			return errStore
		case 2:
			panic("odd")
		}
		return nil
	}, func(err error) { logged = append(logged, err) })
	require.True(t, done)
	require.Len(t, logged, 2)
	require.ErrorIs(t, logged[0], errStore)

	ctx, cancel := context.WithCancel(t.Context())
	require.False(t, lease.Until(ctx, time.Hour, func(context.Context) error {
		cancel()
		return errStore
	}, func(err error) { t.Errorf("logged: %v", err) }))
}
