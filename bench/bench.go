package main

import (
	"context"
	"fmt"
	"time"
)

// bench is a run: rounds of stages, with the figures of all of them.
type bench struct {
	*rig
	figures figures
	// best is the highest rate seen of each stage, from which follows how much has
	// to be prepared for it.
	best map[string]float64
}

// stage is the databases and the server of a stage.
type stage struct {
	*bench
	ours, theirs *database
	server       *server
}

func (b *bench) measure(ctx context.Context) error {
	b.best = map[string]float64{}
	for round := range b.opts.rounds {
		if !b.opts.runs(partWebhooks) && !b.opts.runs(partOpen) && !b.opts.runs(partPays) {
			break
		}
		b.say("round %d of %d", round+1, b.opts.rounds)
		if err := b.round(ctx, (*stage).all); err != nil {
			return err
		}
	}
	if b.opts.runs(partForeign) {
		if err := b.foreign(ctx); err != nil {
			return err
		}
	}
	if b.opts.runs(partTold) {
		if err := b.told(ctx); err != nil {
			return err
		}
	}
	if b.opts.runs(partCells) {
		if err := b.cells(ctx); err != nil {
			return err
		}
	}
	for _, last := range []struct {
		part, title string
		run         func(*stage, context.Context) error
	}{{partInbox, "inbox growth", (*stage).inbox}, {partWaiters, "waiters", (*stage).waiters}} {
		if !b.opts.runs(last.part) {
			continue
		}
		b.say("%s", last.title)
		if err := b.round(ctx, last.run); err != nil {
			return err
		}
	}
	return nil
}

// round does its work on empty databases and a program that was started anew.
func (b *bench) round(ctx context.Context, work func(*stage, context.Context) error) (err error) {
	s := &stage{bench: b}
	if s.ours, err = b.newDatabase(ctx, "ours"); err != nil {
		return err
	}
	if b.opts.set != "" {
		if err := s.ours.exec(ctx, "ALTER DATABASE "+s.ours.name+" SET "+b.opts.set); err != nil {
			return err
		}
	}
	if s.theirs, err = b.newDatabase(ctx, "theirs"); err != nil {
		return err
	}
	if s.server, err = b.serve(ctx, s.ours); err != nil {
		return err
	}
	defer func() {
		if stopped := s.server.stop(); err == nil {
			err = stopped
		}
		if err == nil {
			err = b.drop(ctx, s.ours, s.theirs)
		}
	}()
	return work(s, ctx)
}

func (s *stage) all(ctx context.Context) error {
	if err := s.warmUp(ctx); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{partWebhooks, s.webhooks}, {partOpen, s.openLoop}, {partPays, s.payments}} {
		if !s.opts.runs(part.name) {
			continue
		}
		if err := part.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// warmUp fills the program's pool and its prepared statements.
func (s *stage) warmUp(ctx context.Context) error {
	_, err := s.hooks(ctx, hookRun{clients: 16, window: 500 * time.Millisecond})
	return err
}

// budget returns how many pieces of work to prepare for a window: half as many again as the best round has done, and a guess for
// the first round. Superfluous rows slow the measured work; a stage that runs out of work ends early.
func (b *bench) budget(series string, clients int, first float64) int {
	expected, known := b.best[fmt.Sprint(series, clients)]
	if !known {
		expected = first
	}
	return int(expected*(ahead+b.opts.window).Seconds()*1.5) + clients
}

// note records a stage's rate and prints it.
func (b *bench) note(series string, clients int, value float64) {
	b.figures.add(series, clients, rate, value)
	key := fmt.Sprint(series, clients)
	b.best[key] = max(b.best[key], value)
	b.say("  %-32s %4d clients %9s/s", series, clients, number(value))
}

// noteRate records the measured rate of a tally.
func (b *bench) noteRate(series string, clients int, t *tally) error {
	done, err := t.rate()
	if err != nil {
		return fmt.Errorf("%s, %d clients: %w", series, clients, err)
	}
	b.note(series, clients, done)
	return nil
}
