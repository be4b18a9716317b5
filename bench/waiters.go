package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

const (
	// wakeRate is how many attempts become final per second while all clients wait. Each attempt becomes final by a webhook of
	// its own.
	wakeRate = 500
	// wakeShare: 1 in 5 of the waiting clients is woken in this way.
	wakeShare = 5
	// crowdShare of as many wait for one attempt: 4 in 5.
	crowdShare = 0.8
	// joinAtOnce is how many clients join before the next ones may. Each client first reads its attempt; only the waiting is
	// measured.
	joinAtOnce = 250
	// rest lets the program put its memory in order.
	rest = 3 * time.Second
)

// waiters measures the cost of waiting for a change, and how soon the client learns of the change.
func (s *stage) waiters(ctx context.Context) error {
	if err := s.warmUp(ctx); err != nil {
		return err
	}
	base, err := s.ours.takeAttempts(ctx, s.opts.waiters)
	if err != nil {
		return err
	}
	woken := s.opts.waiters / wakeShare
	first, err := s.join(ctx, 0, woken, func(i int) int { return base + i })
	if err != nil {
		return err
	}
	defer first.leave()
	others, err := s.join(ctx, woken, s.opts.waiters-woken, func(i int) int { return base + woken + i })
	if err != nil {
		return err
	}
	defer others.leave()
	if err := s.idle(ctx, s.opts.waiters); err != nil {
		return err
	}
	if err := s.wakes(ctx, base, first); err != nil {
		return err
	}
	others.leave()
	return s.oneForAll(ctx)
}

// join adds n waiting clients to the clients that wait already. The function of returns the attempt of a client.
func (s *stage) join(ctx context.Context, there, n int, of func(int) int) (*watchers, error) {
	call, err := newCaller(s.server.address)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	w := &watchers{stop: stop}
	for len(w.all) < n {
		for range min(joinAtOnce, n-len(w.all)) {
			w.add(ctx, &watcher{number: there + len(w.all), attempt: of(len(w.all)), caller: call})
		}
		if err := s.waiting(ctx, there+len(w.all)); err != nil {
			w.leave()
			return nil, err
		}
	}
	return w, nil
}

// waiting returns once the program reports n waiters.
func (s *stage) waiting(ctx context.Context, n int) error {
	limit, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	for {
		value, err := s.server.metric(ctx, "paylatch_waiters")
		if err != nil {
			return err
		}
		if int(value) == n {
			return nil
		}
		if err := wait(limit, 5*time.Millisecond); err != nil {
			return fmt.Errorf("%s of %d wait: %w", number(value), n, err)
		}
	}
}

// idle measures the cost of clients that only wait. A checkpoint before it writes the loaded rows, so that the disk is idle.
func (s *stage) idle(ctx context.Context, n int) error {
	if err := s.ours.settle(ctx); err != nil {
		return err
	}
	if err := wait(ctx, rest); err != nil {
		return err
	}
	before := treeTime(s.server.cmd.Process.Pid)
	if err := wait(ctx, rest); err != nil {
		return err
	}
	busy := float64(treeTime(s.server.cmd.Process.Pid)-before) / float64(rest)
	var listening, pooled int
	err := s.ours.conn.QueryRow(ctx, `SELECT count(*) FILTER (WHERE application_name = 'paylatch listen'),
		count(*) FILTER (WHERE application_name = 'paylatch') FROM pg_stat_activity WHERE datname = current_database()`).Scan(&listening, &pooled)
	if err != nil {
		return fmt.Errorf("count connections: %w", err)
	}
	memory := float64(residentBytes(s.server.cmd.Process.Pid)) / float64(n)
	s.figures.add(ourWaiters, 0, waiterBytes, memory)
	s.figures.add(ourWaiters, 0, connections, float64(listening))
	s.say("  %d wait, idle: %s KiB of the program's memory each, %d connection that listens beside the pool's %d, %.1f %% of a processor",
		n, number(memory/1024), listening, pooled, 100*busy)
	return nil
}

// wakes finalises attempts at a steady rate. It compares the times at which the clients got the change with the times at which
// the webhooks were acknowledged.
func (s *stage) wakes(ctx context.Context, base int, waiting *watchers) error {
	n := len(waiting.all)
	shots, err := hooks(s.server.address, s.ours.ids, base, n, 0)
	if err != nil {
		return err
	}
	t, due := newTally(shots), make([]time.Time, n)
	begin := now().Add(100 * time.Millisecond) // all clients are connected by then
	for i := range due {
		due[i] = begin.Add(time.Duration(i) * time.Second / wakeRate)
	}
	if err := t.at(ctx, s.server.address, due); err != nil {
		return err
	}
	if acked := t.count(http.StatusOK, applied); acked != n {
		return fmt.Errorf("%w: of %d webhooks %d were applied", errProof, n, acked)
	}
	if _, err := waiting.told(); err != nil {
		return err
	}
	woken := newHistogram()
	for i, w := range waiting.all {
		_ = woken.RecordValue(w.heard.Sub(due[i]).Microseconds())
	}
	acks, wakes := t.quantile(99), float64(woken.ValueAtQuantile(99))/1000
	s.figures.add(ourWakes, 0, p99, wakes)
	s.figures.add(ourWaiters, 0, p99, acks)
	s.say("  %s attempts final at %d/s: acknowledged p50 %s, p99 %s ms; told p50 %s, p99 %s ms", thousands(int64(n)), wakeRate,
		number(t.quantile(50)), number(acks), number(float64(woken.ValueAtQuantile(50))/1000), number(wakes))
	return nil
}

// oneForAll lets many wait for one attempt and measures from its webhook to the
// last one's answer.
func (s *stage) oneForAll(ctx context.Context) error {
	if err := s.waiting(ctx, 0); err != nil {
		return err
	}
	one, err := s.ours.takeAttempts(ctx, 1)
	if err != nil {
		return err
	}
	waiting, err := s.join(ctx, 0, int(crowdShare*float64(s.opts.waiters)), func(int) int { return one })
	if err != nil {
		return err
	}
	defer waiting.leave()
	if err := wait(ctx, rest); err != nil {
		return err
	}
	shots, err := hooks(s.server.address, s.ours.ids, one, 1, 0)
	if err != nil {
		return err
	}
	before := treeTime(s.server.cmd.Process.Pid)
	t, sent := newTally(shots), now()
	if err := t.at(ctx, s.server.address, []time.Time{sent}); err != nil {
		return err
	}
	last, err := waiting.told()
	if err != nil {
		return err
	}
	took := float64(last.Sub(sent).Microseconds()) / 1000
	s.figures.add(ourWaiters, 0, allTold, took)
	s.say("  %s wait for one attempt: acknowledged after %s ms, all told after %s ms; %s µs of a processor for each", thousands(int64(len(waiting.all))),
		number(t.quantile(100)), number(took), number(float64((treeTime(s.server.cmd.Process.Pid)-before).Microseconds())/float64(len(waiting.all))))
	return nil
}

// waitersTable returns the table of the stage's figures.
func (b *bench) waitersTable() *table {
	f := b.figures
	t := newTable(fmt.Sprintf("**Waiting for a change, %s long polls and streams**", thousands(int64(b.opts.waiters))), "what", "measured")
	t.row("memory of the program for each, KiB", number(f.median(ourWaiters, 0, waiterBytes)/1024))
	t.row("connections that listen", number(f.median(ourWaiters, 0, connections)))
	t.row(fmt.Sprintf("p99 of the acknowledgements, %d webhooks a second, ms", wakeRate), number(f.median(ourWaiters, 0, p99)))
	t.row("p99 until the waiter is told, ms", number(f.median(ourWakes, 0, p99)))
	t.row(fmt.Sprintf("all of %s who wait for one attempt are told, ms", thousands(int64(crowdShare*float64(b.opts.waiters)))), number(f.median(ourWaiters, 0, allTold)))
	return t
}
