package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

const (
	// foreignAfter is how long an event of a payment that is not ours is tried; then it is foreign.
	foreignAfter = 10 * time.Minute
	// foreignFirst is the number of the first foreign event that is sent; ours are below.
	foreignFirst = 1 << 30
	// foreignPace is the rate of paylatch's own webhooks per second in the open loop.
	foreignPace = 1000
	// foreignPayers is how many clients pay. Each pay gives its attempt a name, under which events may wait.
	foreignPayers = 16
	// unmatched is the program's result for an event that names no object of its own.
	unmatched = "unmatched"
)

// foreign measures paylatch's webhooks and pays alone, beside stored foreign events, and beside another system at the same
// account that sends events all the time. The scenes take turns, each on a database of its own.
func (b *bench) foreign(ctx context.Context) error {
	scenes := []func(*stage, context.Context) error{(*stage).foreignNone, (*stage).foreignStored, (*stage).foreignArriving}
	for round := range b.opts.rounds {
		b.say("foreign events, round %d of %d", round+1, b.opts.rounds)
		for i := range scenes {
			if err := b.round(ctx, scenes[(round+i)%len(scenes)]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *stage) foreignNone(ctx context.Context) error {
	if err := s.warmUp(ctx); err != nil {
		return err
	}
	return s.ourPayments(ctx, ourForeignNone)
}

// foreignStored has events that became foreign an hour ago.
func (s *stage) foreignStored(ctx context.Context) error {
	if err := s.loadForeign(ctx); err != nil {
		return err
	}
	if err := s.ours.exec(ctx, `UPDATE provider_events SET verdict = 'foreign', next_try_at = NULL, received_at = received_at - interval '1 hour'
		WHERE verdict = 'unmatched'`); err != nil {
		return err
	}
	if err := s.ours.cleanUp(ctx); err != nil {
		return err
	}
	return s.ourPayments(ctx, ourForeignStored)
}

// foreignArriving begins with the events of the last ten minutes, which the program tries meanwhile; more come at the same rate.
func (s *stage) foreignArriving(ctx context.Context) error {
	if err := s.loadForeign(ctx); err != nil {
		return err
	}
	if err := s.caughtUp(ctx); err != nil {
		return err
	}
	shots, due, err := s.foreignShots()
	if err != nil {
		return err
	}
	arriving, end := context.WithCancel(ctx)
	defer end()
	t, done := newTally(shots), make(chan error, 1)
	go func() { done <- t.at(arriving, s.server.address, due) }()
	err = s.ourPayments(ctx, ourForeignArriving)
	end()
	switch came := <-done; {
	case err != nil:
		return err
	case came == nil:
		return fmt.Errorf("%w: the foreign events came to an end before ours", errProof)
	case !errors.Is(came, context.Canceled):
		return came
	}
	return s.proveForeign(ctx, t)
}

// foreignShots are events that come for longer than a scene takes.
func (s *stage) foreignShots() (shots []shot, due []time.Time, err error) {
	begin, every := now(), foreignAfter/time.Duration(s.opts.foreign)
	for i := range int((2*time.Minute + 4*s.opts.window) / every) {
		one, err := s.foreignHook(foreignFirst + 1 + i)
		if err != nil {
			return nil, nil, err
		}
		shots, due = append(shots, one), append(due, begin.Add(time.Duration(i)*every))
	}
	return shots, due, nil
}

// ourPayments measures paylatch's own webhooks at a rate, as many as 64 clients can send, and pays.
func (s *stage) ourPayments(ctx context.Context, series string) error {
	n := int(foreignPace * max(s.opts.window, openWindow).Seconds())
	r, err := s.hooks(ctx, hookRun{budget: n, pace: foreignPace})
	if err != nil {
		return err
	}
	s.tell(series, 0, r)
	s.figures.add(series, 0, held, float64(r.held)/float64(len(r.shots)))
	if err := s.noteRate(series, 0, r.tally); err != nil {
		return err
	}
	if err := s.ours.cleanUp(ctx); err != nil {
		return err
	}
	if err := s.closedHooks(ctx, series, 64, 0); err != nil {
		return err
	}
	_, _, err = s.pays(ctx, series, foreignPayers)
	return err
}

// loadForeign stores the events of ten minutes of another system, as copies of an event that the program received.
func (s *stage) loadForeign(ctx context.Context) error {
	if err := s.warmUp(ctx); err != nil {
		return err
	}
	one, err := s.foreignHook(foreignFirst)
	if err != nil {
		return err
	}
	if t, err := closed(ctx, s.server.address, 1, s.opts.window, []shot{one}); err != nil || t.count(http.StatusOK, unmatched) != 1 {
		return errors.Join(err, fmt.Errorf("%w: a foreign event is answered %+v", errProof, t.answers))
	}
	if err := s.ours.load(ctx, "load_foreign.sql", 1, s.opts.foreign); err != nil {
		return err
	}
	return s.ours.tidy(ctx, "provider_events")
}

func (s *stage) foreignHook(i int) (shot, error) {
	signer, err := newSigner()
	if err != nil {
		return shot{}, err
	}
	request, err := hookAbout(signer, s.server.address, s.ours.ids.event(i), chargeID(i), "theirs-"+strconv.Itoa(i), now())
	return shot{request, i}, err
}

// caughtUp returns once no event is overdue by more than two seconds.
func (s *stage) caughtUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("the program does not catch up with the events that are due"))
	defer cancel()
	for {
		var overdue bool
		err := s.ours.conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM provider_events WHERE next_try_at < now() - interval '2 seconds')").Scan(&overdue)
		if err != nil {
			return fmt.Errorf("look for events that are due: %w", err)
		}
		if !overdue {
			return nil
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// proveForeign succeeds if each acknowledged foreign event is stored, was tried as it was due, and opened no discrepancy.
func (s *stage) proveForeign(ctx context.Context, t *tally) error {
	var stored, discrepancies int
	err := s.ours.conn.QueryRow(ctx, `SELECT (SELECT count(*) FROM provider_events WHERE verdict IN ('unmatched', 'foreign')),
		(SELECT count(*) FROM discrepancies)`).Scan(&stored, &discrepancies)
	if err != nil {
		return fmt.Errorf("count foreign events: %w", err)
	}
	sent := t.count(http.StatusOK, unmatched)
	if stored != 1+s.opts.foreign+sent || sent != t.sent() || discrepancies > 0 {
		return fmt.Errorf("%w: of %d foreign events and %d that were loaded %d are stored, with %d discrepancies", errProof, t.sent(), s.opts.foreign+1, stored, discrepancies)
	}
	return s.caughtUp(ctx)
}

func (b *bench) foreignTable() *table {
	t := newTable(fmt.Sprintf("**Beside %s events of payments that are not ours**", thousands(int64(b.opts.foreign))), "", "webhooks/s, 64 clients",
		"ratio", "single rounds", fmt.Sprintf("p50 ms at %s/s", thousands(foreignPace)), "ratio", "single rounds", "p99 ms", "ratio", "single rounds",
		fmt.Sprintf("pays/s, %d clients", foreignPayers), "ratio", "single rounds",
		fmt.Sprintf("processor, program µs a webhook at %s/s", thousands(foreignPace)), "processor, database µs")
	for _, series := range []string{ourForeignNone, ourForeignStored, ourForeignArriving} {
		cells := []string{series}
		for _, f := range []figure{{series, 64, rate}, {series, 0, p50}, {series, 0, p99}, {series, foreignPayers, rate}} {
			to := figure{ourForeignNone, f.clients, f.what}
			cells = append(cells, number(b.figures.median(series, f.clients, f.what)))
			if series == ourForeignNone {
				cells = append(cells, "–", "–")
				continue
			}
			ratios := b.figures.ratios(f, to)
			cells = append(cells, number(median(ratios)), spread(ratios))
		}
		t.row(append(cells, number(b.figures.median(series, 0, serverCPU)), number(b.figures.median(series, 0, databaseCPU)))...)
	}
	return t
}
