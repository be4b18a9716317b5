package idempotency

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Store is what a Guard needs of the storage.
type Store interface {
	// InKeyTx runs fn in one transaction.
	InKeyTx(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error
	// KeyExtend extends a lease, KeyRelease ends it without an answer, after which
	// any request may have the key; both return ErrFenced if another runner holds it.
	KeyExtend(ctx context.Context, r Request, fence int64, lease time.Duration) error
	KeyRelease(ctx context.Context, r Request, fence int64) error
}

// Guard runs commands that have no record of their own to be recognised by. A
// command that does, like a payment attempt, uses Take in its own transaction.
type Guard struct {
	Store Store
	// Wait is how long a duplicate waits for the first request; Lease, how long a
	// runner may be silent before another takes its command over.
	Wait, Lease time.Duration

	flights Flights[guarded]
}

type guarded struct {
	answer Answer
	result Result
}

// pollEvery is how often a duplicate looks whether another process is done.
const pollEvery = 100 * time.Millisecond

// Command does the work. It must bear to be run again after a death half-way:
// with takenOver an earlier runner may have done some of it. Its context
// ends when another runner takes the command over.
type Command func(ctx context.Context, takenOver bool) (Answer, error)

// Do runs a command once for each key and keeps its answer. An answer of 4xx is
// kept KeepRefused, one of 5xx and an error not at all: the same key may try
// again. The errors are the command's own, ErrKeyReused and ErrInProgress.
func (g *Guard) Do(ctx context.Context, r Request, keep time.Duration, run Command) (Answer, Result, error) {
	done, shared, err := g.flights.Do(ctx, r, g.Wait, func() (guarded, error) {
		return g.lead(context.WithoutCancel(ctx), r, keep, run)
	})
	if shared {
		done.result = Reused
	}
	return done.answer, done.result, err
}

func (g *Guard) lead(ctx context.Context, r Request, keep time.Duration, run Command) (guarded, error) {
	answer, rec, err := g.take(ctx, r, keep)
	if err != nil {
		return guarded{}, err
	}
	if answer != nil {
		return guarded{*answer, Reused}, nil
	}
	made, err := g.beat(ctx, r, rec, run)
	if err != nil || made.Status >= http.StatusInternalServerError {
		return guarded{made, Created}, errors.Join(err, g.Store.KeyRelease(ctx, r, rec.Fence))
	}
	if made.Status >= http.StatusBadRequest {
		keep = KeepRefused
	}
	err = g.Store.InKeyTx(ctx, func(ctx context.Context, tx Tx) error { return tx.KeyAnswer(ctx, r, rec.Fence, made, keep) })
	return guarded{made, Created}, err
}

// take claims the key, waiting for a runner in another process that has it.
func (g *Guard) take(ctx context.Context, r Request, keep time.Duration) (answer *Answer, rec Record, err error) {
	ctx, cancel := context.WithTimeout(ctx, g.Wait)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err = g.Store.InKeyTx(context.WithoutCancel(ctx), func(ctx context.Context, tx Tx) error {
			var err error
			answer, rec, err = Take(ctx, tx, Claim{Request: r, Lease: g.Lease, Keep: keep})
			return err
		})
		if !errors.Is(err, ErrInProgress) {
			return answer, rec, err
		}
		select {
		case <-ctx.Done():
			return nil, rec, ErrInProgress
		case <-tick.C:
		}
	}
}

// beat runs the command and extends its lease for as long as it runs.
func (g *Guard) beat(ctx context.Context, r Request, rec Record, run Command) (Answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(g.Lease / 3) // two beats may be lost
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := g.Store.KeyExtend(ctx, r, rec.Fence, g.Lease); errors.Is(err, ErrFenced) {
				cancel(ErrFenced)
				return
			}
		}
	}()
	answer, err := run(ctx, rec.TakenOver)
	if fenced := context.Cause(ctx); fenced != nil {
		err = errors.Join(fenced, err)
	}
	cancel(nil)
	<-stopped
	return answer, err
}
