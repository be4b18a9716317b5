package idempotency

import (
	"context"
	"errors"
	"time"
)

// Claim is a request for a key.
type Claim struct {
	Request
	// Lease is how long the runner may take; Keep, how long the key and the response of a
	// command that was carried out are kept.
	Lease, Keep time.Duration
}

// Respond stores the response of the runner that holds the fence. A refusal is kept for
// [KeepRefused] at most.
func (c Claim) Respond(ctx context.Context, tx Tx, fence int64, r Response) error {
	return tx.KeyRespond(ctx, c.Request, fence, r, r.keep(c.Keep))
}

// Refuse stores the refusal of an executed command, as the request renders it.
func (c Claim) Refuse(ctx context.Context, tx Tx, fence int64, err error) error {
	return c.Respond(ctx, tx, fence, c.Refusal(err))
}

// Take claims a key in the caller's transaction. It returns the response that is
// there, or nil and the record of a claim that is now the caller's; ErrKeyReused
// when the key belongs to another request, ErrInProgress when its runner lives.
func Take(ctx context.Context, tx Tx, c Claim) (*Response, Record, error) {
	rec, claimed, err := tx.KeyClaim(ctx, c)
	if err != nil || claimed {
		return nil, rec, err
	}
	response, err := rec.For(c.Request)
	return response, rec, err
}

// refusedError is the error that [Refused] returns.
type refusedError struct{ error }

func (e *refusedError) Unwrap() error { return e.error }

// Refused marks the error of a command that was executed and refused. [Execute] stores it as
// the key's response, commits, and returns the error without the mark.
func Refused(err error) error { return &refusedError{err} }

// Execution is the result of a command's first transaction.
type Execution struct {
	// Record is the key as it was claimed. [Claim.Respond] takes its fence.
	Record Record
	// Replay is the response that was there; nil where the command was run.
	Replay *Response
}

// Execute runs the first transaction of a command, which often is the only one, under the
// command's key. begin is the storage's transaction; where the command locks something before its
// key, it does so there.
//
//	key new, expired or left ─► run ─┬─ a response ────► stored, committed
//	                                 ├─ nil ───────────► committed; Claim.Respond follows in a later transaction
//	                                 ├─ Refused(err) ──► the refusal stored, committed; returns err
//	                                 └─ any other error ► all undone, the key unused; returns it
//	key with a response ─► Execution.Replay
//	another request ─► ErrKeyReused          under way ─► ErrInProgress
//
// run may be called again where begin's transaction is.
func Execute[T Tx](
	ctx context.Context, begin func(ctx context.Context, fn func(ctx context.Context, tx T) error) error,
	c Claim, run func(ctx context.Context, tx T, rec Record) (*Response, error),
) (Execution, error) {
	var done Execution
	var refused *refusedError
	err := begin(ctx, func(ctx context.Context, tx T) (err error) {
		refused = nil
		if done.Replay, done.Record, err = Take(ctx, tx, c); err != nil || done.Replay != nil {
			return err
		}
		response, err := run(ctx, tx, done.Record)
		switch {
		case errors.As(err, &refused):
			return c.Refuse(ctx, tx, done.Record.Fence, refused.error)
		case err != nil || response == nil:
			return err
		}
		return c.Respond(ctx, tx, done.Record.Fence, *response)
	})
	if err == nil && refused != nil {
		return done, refused.error
	}
	return done, err
}

// pollEvery is how often a duplicate looks whether another process is done.
const pollEvery = 100 * time.Millisecond

// InTurn tries again while the runner of the same request in another process has the key, for
// as long as wait. Between the tries it holds no connection.
func InTurn(ctx context.Context, wait time.Duration, try func() error) error {
	over := time.NewTimer(wait)
	defer over.Stop()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := try()
		if !errors.Is(err, ErrInProgress) {
			return err
		}
		select { // a try may last longer than both timers
		case <-over.C:
			return err
		default:
		}
		select {
		case <-ctx.Done():
			return err
		case <-over.C:
			return err
		case <-tick.C:
		}
	}
}
