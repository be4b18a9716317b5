// Package worker runs use cases periodically. It executes due operations, retries parked events, verifies, and deletes
// expired data. Any number of replicas may run all loops. Work that only one replica may do at a time is claimed in the
// database.
package worker

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/platform/tracing"
)

// Loop is a task that is run periodically.
type Loop struct {
	Name  string
	Every time.Duration
	// Essential marks a loop that payments need: a process in which it keeps failing is not ready.
	Essential bool
	// Do does a portion and reports whether more is waiting.
	Do func(ctx context.Context) (more bool, err error)
	// Rest waits, after the last portion, for work that Do left running; nil without such work.
	Rest func()
}

// Supervisor runs loops until its context ends and reports the loops that keep failing.
type Supervisor struct {
	loops  []Loop
	log    zerolog.Logger
	failed []atomic.Int32
}

const (
	// unhealthyAfter is how many times a loop may fail in a row.
	unhealthyAfter = 5
	// retryAfter is the maximum wait after a failure, so that a rare loop does not count as failing long after its
	// dependency is back.
	retryAfter = 5 * time.Second
)

// New returns a supervisor of some loops.
func New(log zerolog.Logger, loops ...Loop) *Supervisor {
	return &Supervisor{loops: loops, log: log, failed: make([]atomic.Int32, len(loops))}
}

// Run runs the loops until ctx ends and then waits for their portions.
func (s *Supervisor) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for i := range s.loops {
		all.Go(func() { s.run(ctx, i) })
	}
	all.Wait()
	return nil
}

// Unhealthy returns the essential loops that keep failing.
func (s *Supervisor) Unhealthy() []string {
	var names []string
	for i := range s.loops {
		if s.loops[i].Essential && s.failed[i].Load() >= unhealthyAfter {
			names = append(names, s.loops[i].Name)
		}
	}
	return names
}

func (s *Supervisor) run(ctx context.Context, i int) {
	loop := s.loops[i]
	if loop.Rest != nil {
		defer loop.Rest()
	}
	tick := time.NewTicker(loop.Every)
	defer tick.Stop()
	for failing := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for more := true; more && ctx.Err() == nil; {
			more = s.once(ctx, i)
		}
		if failed := s.failed[i].Load() > 0; failed != failing {
			failing = failed
			tick.Reset(loop.pace(failed))
		}
	}
}

// pace returns the time until the loop's next run.
func (l Loop) pace(failing bool) time.Duration {
	if failing {
		return min(l.Every, retryAfter)
	}
	return l.Every
}

func (s *Supervisor) once(ctx context.Context, i int) bool {
	var more bool
	since := tracing.Mark(ctx)
	err := caught(func() (err error) {
		more, err = s.loops[i].Do(ctx)
		return err
	})
	if err == nil || ctx.Err() != nil {
		s.failed[i].Store(0)
		return more
	}
	if n := s.failed[i].Add(1); n == 1 || n%unhealthyAfter == 0 {
		name := s.loops[i].Name
		span := tracing.Ended(ctx, tracing.Past{Name: "loop " + name, Since: since, Outcome: "failed", Failed: true})
		log := inSpan(s.log.With(), span).Logger()
		log.Error().Err(err).Str("loop", name).Int32("failures", n).Msg("a background loop failed; it continues")
	}
	return false
}
