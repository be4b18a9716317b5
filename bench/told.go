package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// told measures webhooks alone, and while their events are delivered to an endpoint and read from the feed. The scenes take
// turns, each on a database of its own.
func (b *bench) told(ctx context.Context) error {
	scenes := []func(context.Context) error{b.untold, b.toldBoth}
	for round := range b.opts.rounds {
		b.say("events told, round %d of %d", round+1, b.opts.rounds)
		for i := range scenes {
			if err := scenes[(round+i)%len(scenes)](ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bench) untold(ctx context.Context) error {
	return b.round(ctx, func(s *stage, ctx context.Context) error { return s.hooksTold(ctx, ourUntold) })
}

func (b *bench) toldBoth(ctx context.Context) (err error) {
	shop, err := newReceiver(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shop.server.Close()) }()
	b.endpoint = shop.url
	defer func() { b.endpoint = "" }()
	return b.round(ctx, func(s *stage, ctx context.Context) error {
		reading, end := context.WithCancel(ctx)
		defer end()
		var read atomic.Int64
		done := make(chan error, 1)
		go func() { done <- s.readFeed(reading, &read) }()
		err := s.hooksTold(ctx, ourTold)
		if err == nil {
			err = s.proveTold(ctx, &shop.got, &read)
		}
		end()
		if failed := <-done; err == nil && !errors.Is(failed, context.Canceled) {
			err = failed
		}
		return err
	})
}

// hooksTold measures webhooks at a pace, and as many as 64 clients can send.
func (s *stage) hooksTold(ctx context.Context, series string) error {
	if err := s.warmUp(ctx); err != nil {
		return err
	}
	r, err := s.hooks(ctx, hookRun{budget: int(foreignPace * max(s.opts.window, openWindow).Seconds()), pace: foreignPace})
	if err != nil {
		return err
	}
	s.tell(series, 0, r)
	if err := s.noteRate(series, 0, r.tally); err != nil {
		return err
	}
	if err := s.ours.cleanUp(ctx); err != nil {
		return err
	}
	return s.closedHooks(ctx, series, 64, 0)
}

// readFeed reads and counts all events until ctx ends. It does not decode them, since a real reader runs on another machine.
func (s *stage) readFeed(ctx context.Context, read *atomic.Int64) error {
	c, err := newCaller(s.server.address)
	if err != nil {
		return err
	}
	for cursor := ""; ; {
		page, err := s.feedPage(ctx, c.token, cursor)
		if err != nil {
			return err
		}
		read.Add(int64(bytes.Count(page, []byte(`{"id":"`))))
		_, last, found := bytes.Cut(page, []byte(`"next_cursor":"`))
		if !found {
			return fmt.Errorf("%w: a page of the feed without a cursor: %s", errProof, page)
		}
		cursor = string(last[:bytes.IndexByte(last, '"')])
	}
}

func (s *stage) feedPage(ctx context.Context, token, cursor string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.server.address+"/v1/events?limit=1000&wait=20&after="+cursor, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("read the feed: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := new(http.Client).Do(r)
	if err != nil {
		return nil, fmt.Errorf("read the feed: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	page, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%w: %d", errProof, res.StatusCode)
	}
	if err != nil {
		return nil, fmt.Errorf("read the feed: %w", err)
	}
	return page, nil
}

// proveTold is satisfied once the endpoint and the feed's reader have each event.
func (s *stage) proveTold(ctx context.Context, got, read *atomic.Int64) error {
	began := now()
	written, err := s.ours.rows(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 5*time.Minute, fmt.Errorf("%w: the events are not told within five minutes", errProof))
	defer cancel()
	for got.Load() < written.outbox || read.Load() < written.outbox {
		if err := wait(ctx, 10*time.Millisecond); err != nil {
			return fmt.Errorf("%w: %d of %d were delivered, %d read", err, got.Load(), written.outbox, read.Load())
		}
	}
	s.say("  all of %d events were told %.1f s later", written.outbox, now().Sub(began).Seconds())
	return nil
}

// receiver is a shop that takes each delivery.
type receiver struct {
	url    string
	server *http.Server
	got    atomic.Int64
}

func newReceiver(ctx context.Context) (*receiver, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("the shop: %w", err)
	}
	r := &receiver{url: "http://" + l.Addr().String()}
	r.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		r.got.Add(1)
		w.WriteHeader(http.StatusNoContent)
	})}
	go func() { _ = r.server.Serve(l) }()
	return r, nil
}

func (b *bench) toldTable() *table {
	f := b.figures
	t := newTable("**While events are delivered to an endpoint and read from the feed**", "", "webhooks/s, 64 clients", "ratio", "single rounds",
		fmt.Sprintf("p50 ms at %s/s", thousands(foreignPace)), "p99 ms", "processor, program µs a webhook at 64 clients", "processor, database µs")
	for _, series := range []string{ourUntold, ourTold} {
		ratio, rounds := "–", "–"
		if series == ourTold {
			ratios := f.ratios(figure{ourTold, 64, rate}, figure{ourUntold, 64, rate})
			ratio, rounds = number(median(ratios)), spread(ratios)
		}
		t.row(series, number(f.median(series, 64, rate)), ratio, rounds, number(f.median(series, 0, p50)), number(f.median(series, 0, p99)),
			number(f.median(series, 64, serverCPU)), number(f.median(series, 64, databaseCPU)))
	}
	return t
}
