package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// expected is the rate per second that the first round prepares for.
func expected(clients int) float64 {
	switch {
	case clients == 1:
		return 1000
	case clients <= 16:
		return 3000
	}
	return 12_000
}

// clientCounts are the numbers of clients of both sides.
func clientCounts() []int { return []int{1, 16, 64} }

// webhooks measures both sides under more and more clients; 256 are too many for PostgreSQL's default settings. A run with
// repeats is compared with a run without repeats just before it.
func (s *stage) webhooks(ctx context.Context) error {
	if s.opts.clients > 0 {
		return s.compare(ctx, s.opts.clients)
	}
	for _, clients := range clientCounts() {
		if err := s.compare(ctx, clients); err != nil {
			return err
		}
	}
	if err := s.closedHooks(ctx, ourRepeats, 64, 0.3); err != nil {
		return err
	}
	return s.closedHooks(ctx, ourHooks, 256, 0)
}

// compare measures pgbench's two forms and then ours.
func (s *stage) compare(ctx context.Context, clients int) error {
	if err := s.pgbenchHooks(ctx, pgTransaction, "transaction.sql", clients); err != nil {
		return err
	}
	if err := s.pgbenchHooks(ctx, pgStatement, "statement.sql", clients); err != nil {
		return err
	}
	return s.closedHooks(ctx, ourHooks, clients, 0)
}

// pgbenchHooks runs again with more attempts if it has run out of them.
func (s *stage) pgbenchHooks(ctx context.Context, series, script string, clients int) error {
	for budget := s.budget(series, clients, expected(clients)/2); ; budget *= 2 {
		base, err := s.theirs.takeAttempts(ctx, budget)
		if err != nil {
			return err
		}
		_, err = s.pgbenchProved(ctx, series, pgbenchRun{script: script, clients: clients, base: base}, proveHooks)
		if !errors.Is(err, errRanOut) {
			return err
		}
	}
}

// pgbenchProved runs a writing script, and counts the written rows.
func (s *stage) pgbenchProved(ctx context.Context, series string, p pgbenchRun, prove func(before, after rows, n int64) error) (pgbenchResult, error) {
	var result pgbenchResult
	before, err := s.theirs.rows(ctx)
	if err != nil {
		return result, err
	}
	if err := s.theirs.settle(ctx); err != nil {
		return result, err
	}
	var unused usage
	result, err = s.pgbench(ctx, s.theirs, p, func() (err error) {
		unused, err = s.usage(ctx, nil)
		return err
	})
	if err != nil {
		return result, err
	}
	used, err := s.usage(ctx, nil)
	if err != nil {
		return result, err
	}
	after, err := s.theirs.rows(ctx)
	if err != nil {
		return result, err
	}
	s.figures.usage(series, p.clients, used.minus(unused), result.warm)
	s.figures.add(series, p.clients, p99, millis(result.latency, 99))
	s.note(series, p.clients, result.rate)
	if err := prove(before, after, result.done); err != nil {
		return result, err
	}
	return result, s.theirs.cleanUp(ctx)
}

// during makes a checkpoint, does the work and returns the resources that the work used.
func (s *stage) during(ctx context.Context, d *database, server *server, work func() error) (usage, error) {
	if err := d.settle(ctx); err != nil {
		return usage{}, err
	}
	before, err := s.usage(ctx, server)
	if err != nil {
		return usage{}, err
	}
	if err := work(); err != nil {
		return usage{}, err
	}
	after, err := s.usage(ctx, server)
	return after.minus(before), err
}

func (s *stage) closedHooks(ctx context.Context, series string, clients int, repeats float64) error {
	run, err := s.hooks(ctx, hookRun{
		clients: clients, window: s.opts.window, repeats: repeats, budget: s.budget(series, clients, expected(clients)),
	})
	if err != nil {
		return fmt.Errorf("%s, %d clients: %w", series, clients, err)
	}
	s.tell(series, clients, run)
	if err := s.noteRate(series, clients, run.tally); err != nil {
		return err
	}
	return s.ours.cleanUp(ctx)
}

// hookRun is a stage of webhooks: closed, or paced at a rate.
type hookRun struct {
	clients int
	window  time.Duration
	repeats float64
	budget  int
	pace    int
}

// hookResult is a tally with proven work.
type hookResult struct {
	*tally
	used    usage
	commits int64
	held    int
}

func (s *stage) hooks(ctx context.Context, h hookRun) (hookResult, error) {
	var r hookResult
	budget := max(h.budget, 2000)
	base, err := s.ours.takeAttempts(ctx, budget)
	if err != nil {
		return r, err
	}
	shots, err := hooks(s.server.address, s.ours.ids, base, budget, h.repeats)
	if err != nil {
		return r, err
	}
	for i := range shots {
		shots[i] = shots[i].to(s.ours.account)
	}
	before, err := s.ours.rows(ctx)
	if err != nil {
		return r, err
	}
	r.used, err = s.during(ctx, s.ours, s.server, func() (err error) {
		if h.pace > 0 {
			r.tally, r.held, err = paced(ctx, s.server.address, h.pace, time.Second, shots)
			return err
		}
		r.tally, err = closed(ctx, s.server.address, h.clients, h.window, shots)
		return err
	})
	if err != nil {
		return r, err
	}
	return r, s.prove(ctx, before, &r)
}

// prove is content if every webhook was acknowledged and is on disk; only an
// overload may have been refused.
func (s *stage) prove(ctx context.Context, before rows, r *hookResult) (err error) {
	if odd := r.sent() - r.count(http.StatusOK, "") - r.count(http.StatusServiceUnavailable, ""); odd > 0 {
		return fmt.Errorf("%w: %d answers are neither 200 nor 503", errProof, odd)
	}
	if known := r.count(http.StatusOK, applied) + r.count(http.StatusOK, duplicate); known != r.count(http.StatusOK, "") {
		return fmt.Errorf("%w: %d verdicts are unexpected", errProof, r.count(http.StatusOK, "")-known)
	}
	after, err := s.ours.rows(ctx)
	if err != nil {
		return err
	}
	if err := proveHooks(before, after, int64(r.count(http.StatusOK, applied))); err != nil {
		return err
	}
	r.commits, err = s.ours.proveAcks(ctx, r.tally)
	return err
}

func (s *stage) tell(series string, clients int, r hookResult) {
	s.figures.add(series, clients, p50, r.quantile(50))
	s.figures.add(series, clients, p99, r.quantile(99))
	s.figures.add(series, clients, perCommit, float64(r.count(http.StatusOK, applied))/float64(max(r.commits, 1)))
	s.figures.usage(series, clients, r.used, int64(r.sent()))
}

// openWindow is how long the open loop lasts at least. In a shorter one the
// backlog of a pace that is not held stays within the patience of a second.
const openWindow = 10 * time.Second

// openLoop sends webhooks at a fixed pace, as providers do.
func (s *stage) openLoop(ctx context.Context) error {
	n := int(float64(s.opts.open) * max(s.opts.window, openWindow).Seconds())
	r, err := s.hooks(ctx, hookRun{budget: n, pace: s.opts.open})
	if err != nil {
		return err
	}
	s.tell(ourOpen, 0, r)
	s.figures.add(ourOpen, 0, held, float64(r.held)/float64(len(r.shots)))
	if err := s.noteRate(ourOpen, 0, r.tally); err != nil {
		return err
	}
	return s.ours.cleanUp(ctx)
}

// inbox measures the rate while the table of events grows, in turns with a database with an empty inbox, so that other load of
// the machine affects both.
func (s *stage) inbox(ctx context.Context) (err error) {
	empty := &stage{bench: s.bench, ours: s.theirs}
	if empty.server, err = s.serve(ctx, empty.ours); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, empty.server.stop()) }()
	filled := 0
	for _, size := range s.opts.sizes() {
		tell := func(filled int) {
			if filled%max(size/10, 1) == 0 {
				s.say("  %-18s %11s of %s", "filling the inbox", thousands(int64(filled)), thousands(int64(size)))
			}
		}
		if err := s.ours.fillInbox(ctx, filled, size-filled, tell); err != nil {
			return err
		}
		filled = size
		for range s.opts.rounds {
			if err := empty.weigh(ctx, ourEmpty, size); err != nil {
				return err
			}
			if err := s.weigh(ctx, ourInbox, size); err != nil {
				return err
			}
		}
	}
	return nil
}

// sizes returns the sizes of the inbox.
func (o options) sizes() []int { return []int{o.inbox / 10, o.inbox} }

// weigh measures one of the two databases, one with an inbox of a size and one with an empty inbox.
func (s *stage) weigh(ctx context.Context, series string, size int) error {
	if err := s.warmUp(ctx); err != nil {
		return err
	}
	r, err := s.hooks(ctx, hookRun{clients: 64, window: s.opts.window, budget: s.budget(ourHooks, 64, expected(64))})
	if err != nil {
		return err
	}
	done, err := r.rate()
	if err != nil {
		return err
	}
	s.tell(series, size, r)
	s.figures.add(series, size, rate, done)
	s.say("  %-18s %11s   64 clients %9s/s", series, thousands(int64(size)), number(done))
	return s.ours.cleanUp(ctx)
}
