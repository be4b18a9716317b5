package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sync/errgroup"
)

// tally is the results of the shots of a stage.
type tally struct {
	shots   []shot
	answers []answer // of the shots, in their order; the zero answer for a shot that was not sent
	elapsed time.Duration
	// ahead is the time at the beginning that does not count for latency and rate.
	ahead   time.Duration
	latency *hdrhistogram.Histogram // in microseconds

	mu sync.Mutex
}

func newTally(shots []shot) *tally {
	return &tally{shots: shots, answers: make([]answer, len(shots)), latency: newHistogram()}
}

func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, 60_000_000, 2) }

func (t *tally) merge(h *hdrhistogram.Histogram) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.latency.Merge(h)
}

// count returns the number of answers with a status and a result; "" matches any result.
func (t *tally) count(status int, result string) int {
	n := 0
	for _, a := range t.answers {
		if a.status == status && (result == "" || a.result == result) {
			n++
		}
	}
	return n
}

// statuses counts the answers by their status.
func (t *tally) statuses() map[int]int {
	all := map[int]int{}
	for _, a := range t.answers {
		if a.status != 0 {
			all[a.status]++
		}
	}
	return all
}

func (t *tally) sent() int { return len(t.answers) - t.count(0, "") }

// errTooFew is returned if the prepared requests ran out before the measured time began.
var errTooFew = errors.New("no request is left after the time that does not count: raise the guess that the first round goes by")

// rate returns the number of shots per second within the measured time.
func (t *tally) rate() (float64, error) {
	if t.elapsed <= t.ahead {
		return 0, fmt.Errorf("%w: %d took %s, by status %v", errTooFew, t.sent(), t.elapsed, t.statuses())
	}
	return float64(t.latency.TotalCount()) / (t.elapsed - t.ahead).Seconds(), nil
}

func (t *tally) quantile(q float64) float64 { return millis(t.latency, q) }

func millis(h *hdrhistogram.Histogram, q float64) float64 {
	return float64(h.ValueAtQuantile(q)) / 1000
}

// ahead is how long both sides work before the measured time: new sessions fill their caches, and most pages after a checkpoint
// are written whole once more.
const ahead = time.Second

// closed lets clients send one shot after the other, ahead of the window and until
// it is over, or no shot is left; each waits for its answer.
func closed(ctx context.Context, address string, clients int, window time.Duration, shots []shot) (*tally, error) {
	t := newTally(shots)
	t.ahead = ahead
	var next atomic.Int64
	return t, t.run(ctx, address, clients, func(w *wire, h *hdrhistogram.Histogram, begun time.Time) error {
		for since(begun) < ahead+window && ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= len(shots) {
				return nil
			}
			sent := now()
			if err := t.send(w, i); err != nil {
				return err
			}
			if sent.Sub(begun) >= ahead {
				_ = h.RecordValue(since(sent).Microseconds())
			}
		}
		return ctx.Err()
	})
}

// paced sends shots at their time, whether or not the earlier shots are answered. Latency counts from the time at which a shot
// was due, so that a stall raises the latency of all shots in it. It returns how many were answered with 200 within patience.
func paced(ctx context.Context, address string, rate int, patience time.Duration, shots []shot) (*tally, int, error) {
	const connections = 512
	t := newTally(shots)
	var next, held atomic.Int64
	err := t.run(ctx, address, connections, func(w *wire, h *hdrhistogram.Histogram, begun time.Time) error {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= len(shots) {
				return nil
			}
			due := begun.Add(time.Duration(i) * time.Second / time.Duration(rate))
			if err := wait(ctx, due.Sub(now())); err != nil {
				return err
			}
			if err := t.send(w, i); err != nil {
				return err
			}
			took := since(due)
			_ = h.RecordValue(took.Microseconds())
			if took <= patience && t.answers[i].status == 200 {
				held.Add(1)
			}
		}
		return ctx.Err()
	})
	return t, int(held.Load()), err
}

// at sends each shot at its time, as paced does.
func (t *tally) at(ctx context.Context, address string, due []time.Time) error {
	next := make(chan int, len(due))
	for i := range due {
		next <- i
	}
	close(next)
	return t.run(ctx, address, min(64, len(due)), func(w *wire, h *hdrhistogram.Histogram, _ time.Time) error {
		for i := range next {
			if err := wait(ctx, due[i].Sub(now())); err != nil {
				return err
			}
			if err := t.send(w, i); err != nil {
				return err
			}
			_ = h.RecordValue(since(due[i]).Microseconds())
		}
		return nil
	})
}

func (t *tally) send(w *wire, i int) (err error) {
	t.answers[i], err = w.do(t.shots[i].request)
	return err
}

// run connects all clients before the clock starts.
func (t *tally) run(ctx context.Context, address string, clients int, work func(*wire, *hdrhistogram.Histogram, time.Time) error) error {
	wires := make([]*wire, clients)
	for i := range wires {
		w, err := dial(ctx, address)
		if err != nil {
			return fmt.Errorf("client %d: %w", i, err)
		}
		defer w.close()
		wires[i] = w
	}
	begun := now()
	var group errgroup.Group
	for _, w := range wires {
		group.Go(func() error {
			h := newHistogram()
			defer t.merge(h)
			return work(w, h, begun)
		})
	}
	err := group.Wait()
	t.elapsed = since(begun)
	return err //nolint:wrapcheck // each client wraps its own
}
