package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// expectedPays is the rate per second that the first round prepares for.
func expectedPays(clients int) float64 {
	if clients == 1 {
		return 1000
	}
	return 4000
}

// expectedUnchanged is this rate for requests that change nothing, from 64 clients on.
const expectedUnchanged = 30_000

// payments measures pays, their repetition, and reads of a status.
func (s *stage) payments(ctx context.Context) error {
	var base, done, keys, paid int
	var err error
	for _, clients := range clientCounts() {
		if keys, done, err = s.pgbenchPays(ctx, clients); err != nil {
			return err
		}
		if base, paid, err = s.pays(ctx, ourPays, clients); err != nil {
			return err
		}
	}
	if err := s.pgbenchReads(ctx, pgKey, pgbenchRun{script: "key.sql", clients: 64, base: keys, span: done / 2}); err != nil {
		return err
	}
	if err := s.replays(ctx, base, paid); err != nil {
		return err
	}
	if err := s.reads(ctx); err != nil {
		return err
	}
	return s.crowd(ctx)
}

// pgbenchPays returns the number of the first order and how many were paid.
func (s *stage) pgbenchPays(ctx context.Context, clients int) (base, done int, err error) {
	for budget := s.budget(pgPay, clients, expectedPays(clients)); ; budget *= 2 {
		if base, err = s.theirs.takeOrders(ctx, budget); err != nil {
			return 0, 0, err
		}
		result, err := s.pgbenchProved(ctx, pgPay, pgbenchRun{script: "pay.sql", clients: clients, base: base}, provePays)
		if !errors.Is(err, errRanOut) {
			return base, int(result.done), err
		}
	}
}

// pays returns the number of the first order and how many were paid.
func (s *stage) pays(ctx context.Context, series string, clients int) (base, paid int, err error) {
	budget := s.budget(series, clients, expectedPays(clients))
	if base, err = s.ours.takeOrders(ctx, budget); err != nil {
		return 0, 0, err
	}
	call, err := newCaller(s.server.address)
	if err != nil {
		return 0, 0, err
	}
	shots := call.pays(base, budget)
	before, err := s.ours.rows(ctx)
	if err != nil {
		return 0, 0, err
	}
	charged := s.stub.charges.Load()
	t, used, err := s.requests(ctx, series, clients, shots)
	if err != nil {
		return 0, 0, err
	}
	after, err := s.ours.rows(ctx)
	if err != nil {
		return 0, 0, err
	}
	s.figures.usage(series, clients, used, int64(t.sent()))
	paid = t.count(http.StatusCreated, created)
	if n := int(s.stub.charges.Load() - charged); paid != t.sent() || n != paid {
		return 0, 0, fmt.Errorf("%w: %d pays were sent, %d made, %d charged, by status %v", errProof, t.sent(), paid, n, t.statuses())
	}
	if err := provePays(before, after, int64(paid)); err != nil {
		return 0, 0, err
	}
	return base, paid, s.ours.cleanUp(ctx)
}

// requests measures one kind of request in a closed loop.
func (s *stage) requests(ctx context.Context, series string, clients int, shots []shot) (t *tally, used usage, err error) {
	used, err = s.during(ctx, s.ours, s.server, func() (err error) {
		t, err = closed(ctx, s.server.address, clients, s.opts.window, shots)
		return err
	})
	if err != nil {
		return nil, used, fmt.Errorf("%s, %d clients: %w", series, clients, err)
	}
	s.figures.add(series, clients, p50, t.quantile(50))
	s.figures.add(series, clients, p99, t.quantile(99))
	return t, used, s.noteRate(series, clients, t)
}

// replays sends the pays of the last stage again, round and round.
func (s *stage) replays(ctx context.Context, base, paid int) error {
	call, err := newCaller(s.server.address)
	if err != nil {
		return err
	}
	return s.unchanged(ctx, ourReplays, repeat(call.pays(base, paid), s.budget(ourReplays, 64, expectedUnchanged)),
		func(t *tally) int { return t.count(http.StatusCreated, reused) })
}

// reads requests pending attempts.
func (s *stage) reads(ctx context.Context) error {
	const many = 10_000
	theirs, err := s.theirs.takeAttempts(ctx, many)
	if err != nil {
		return err
	}
	if err := s.pgbenchReads(ctx, pgAttempt, pgbenchRun{script: "attempt.sql", clients: 64, base: theirs, span: many - 1}); err != nil {
		return err
	}
	ours, err := s.ours.takeAttempts(ctx, many)
	if err != nil {
		return err
	}
	call, err := newCaller(s.server.address)
	if err != nil {
		return err
	}
	return s.unchanged(ctx, ourReads, repeat(call.reads(ours, many), s.budget(ourReads, 64, expectedUnchanged)),
		func(t *tally) int { return t.count(http.StatusOK, "") })
}

func (s *stage) pgbenchReads(ctx context.Context, series string, p pgbenchRun) error {
	result, err := s.pgbench(ctx, s.theirs, p, func() error { return nil })
	if err != nil {
		return err
	}
	s.note(series, p.clients, result.rate)
	return nil
}

// unchanged measures requests that must change nothing and all be answered well.
func (s *stage) unchanged(ctx context.Context, series string, shots []shot, good func(*tally) int) error {
	before, err := s.ours.rows(ctx)
	if err != nil {
		return err
	}
	charged := s.stub.charges.Load()
	t, used, err := s.requests(ctx, series, 64, shots)
	if err != nil {
		return err
	}
	s.figures.usage(series, 64, used, int64(t.sent()))
	after, err := s.ours.rows(ctx)
	if err != nil {
		return err
	}
	if n := good(t); n != t.sent() || after != before || s.stub.charges.Load() != charged {
		return fmt.Errorf("%w: %s: %d of %d answers are good, changed: %+v", errProof, series, n, t.sent(), after.minus(before))
	}
	return nil
}

func repeat(shots []shot, n int) []shot {
	out := make([]shot, 0, n)
	for len(out) < n && len(shots) > 0 {
		out = append(out, shots[:min(len(shots), n-len(out))]...)
	}
	return out
}
