package idempotency

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// Guard runs commands that have no record of their own to be recognised by. It is safe for
// concurrent use and must not be copied.
type Guard struct {
	Store Store
	// Wait is how long a duplicate waits for the first request; 0 means not at all.
	Wait time.Duration
	// Lease is how long a runner may be silent before another takes its command over; 0 means 30 seconds.
	Lease time.Duration

	flights Flights[guarded]
}

type guarded struct {
	response Response
	result   Result
}

// Effect is a command with its effect in the key's own transaction. ctx carries the transaction,
// as the store documents. If the transaction runs again, so does the command.
type Effect func(ctx context.Context) (Response, error)

// InTx runs a command once for each key, in one transaction with the key: the effect and the
// response are on disk together or not at all. If a command is refused (4xx or 5xx) or fails,
// its writes are undone. A refusal that used up its key ([Response.UsesKey]) is kept for
// KeepRefused. The errors are the command's own, ErrKeyReused, ErrInProgress and the store's.
func (g *Guard) InTx(ctx context.Context, r Request, keep time.Duration, run Effect) (Response, Result, error) {
	return g.share(ctx, r, func(ctx context.Context) (guarded, error) {
		return g.inTx(ctx, g.claim(r, keep), run)
	})
}

// lease is the default of Guard.Lease.
const lease = 30 * time.Second

func (g *Guard) claim(r Request, keep time.Duration) Claim {
	return Claim{Request: r, Lease: cmp.Or(g.Lease, lease), Keep: keep}
}

// share runs a command, or returns the response of the same one that is under way here.
func (g *Guard) share(ctx context.Context, r Request, run func(ctx context.Context) (guarded, error)) (Response, Result, error) {
	done, shared, err := g.flights.Do(ctx, r, g.Wait, func() (guarded, error) { return run(context.WithoutCancel(ctx)) })
	switch {
	case err != nil:
		return Response{}, "", err
	case shared:
		done.result = Reused
	}
	return done.response, done.result, nil
}

// errUndone undoes a refused command's transaction.
var errUndone = errors.New("refused")

func (g *Guard) inTx(ctx context.Context, c Claim, run Effect) (guarded, error) {
	var made Response
	done, err := g.execute(ctx, c, func(ctx context.Context, _ Tx, _ Record) (*Response, error) {
		var err error
		if made, err = run(ctx); err == nil && made.refused() {
			err = errUndone
		}
		return &made, err
	})
	if !errors.Is(err, errUndone) {
		return outcome(done, made), err
	}
	if !made.UsesKey() {
		return guarded{made, Created}, nil
	}
	done, err = g.execute(ctx, c, func(context.Context, Tx, Record) (*Response, error) { return &made, nil })
	return outcome(done, made), err
}

// execute is Execute, in turn with other processes.
func (g *Guard) execute(ctx context.Context, c Claim, run func(ctx context.Context, tx Tx, rec Record) (*Response, error)) (done Execution, err error) {
	err = InTurn(ctx, g.Wait, func() error {
		done, err = Execute(ctx, g.Store.InKeyTx, c, run)
		return err
	})
	return done, err
}

// outcome is the response that was there, or the one that was made.
func outcome(done Execution, made Response) guarded {
	if done.Replay != nil {
		return guarded{*done.Replay, Reused}
	}
	return guarded{made, Created}
}

// Command does work that no transaction of the store holds, such as a call. It must be safe to run
// again after a crash in the middle: with takenOver an earlier runner may have done some of it.
// Its context ends when another runner takes the command over.
type Command func(ctx context.Context, takenOver bool) (Response, error)

// Do runs a command once for each key and keeps its response, between two transactions: the
// first claims the key, the second stores the response, and a lease is extended as long as the
// command runs. A runner that dies leaves the key to the next request with it, when the lease
// is over. Where a command fails, or its response did not use up its key ([Response.UsesKey]), the
// same key may try again. The errors are the command's own, ErrKeyReused, ErrInProgress, ErrFenced
// where another runner took over, and the store's.
func (g *Guard) Do(ctx context.Context, r Request, keep time.Duration, run Command) (Response, Result, error) {
	return g.share(ctx, r, func(ctx context.Context) (guarded, error) {
		return g.lead(ctx, g.claim(r, keep), run)
	})
}

func (g *Guard) lead(ctx context.Context, c Claim, run Command) (guarded, error) {
	done, err := g.execute(ctx, c, func(context.Context, Tx, Record) (*Response, error) { return nil, nil })
	if err != nil || done.Replay != nil {
		return outcome(done, Response{}), err
	}
	made, err := g.beat(ctx, c, done.Record, run)
	if err != nil || !made.UsesKey() {
		return guarded{made, Created}, errors.Join(err, g.Store.KeyRelease(ctx, c.Request, done.Record.Fence))
	}
	err = g.Store.InKeyTx(ctx, func(ctx context.Context, tx Tx) error { return c.Respond(ctx, tx, done.Record.Fence, made) })
	return guarded{made, Created}, err
}

// beat runs the command and extends its lease for as long as it runs.
func (g *Guard) beat(ctx context.Context, c Claim, rec Record, run Command) (Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(c.Lease / 3) // two beats may be lost
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := g.Store.KeyExtend(ctx, c.Request, rec.Fence, c.Lease); errors.Is(err, ErrFenced) {
				cancel(ErrFenced)
				return
			}
		}
	}()
	response, err := run(ctx, rec.TakenOver)
	if fenced := context.Cause(ctx); fenced != nil {
		err = errors.Join(fenced, err)
	}
	cancel(nil)
	<-stopped
	return response, err
}
