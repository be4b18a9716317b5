package bulk

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/payment"
)

// Held is a job with the lease of this process.
type Held struct {
	Job

	Fence int64
	// Behind is the id behind which the job goes on.
	Behind uuid.UUID
}

// Portion is the next items of a job.
type Portion struct {
	IDs []uuid.UUID
	// Behind is the last id that was read, even if the filter does not choose it.
	Behind uuid.UUID
	// End is set if there are no more items.
	End bool
}

// Ended is the result of one event or discrepancy.
type Ended struct {
	ID        uuid.UUID
	AttemptID *payment.AttemptID
	// Outcome is a key of Job.Results.
	Outcome string
}

// Queue leases jobs. It returns the errors of package payment, and lease.ErrLost for a write after the lease has ended or the
// job was stopped.
type Queue interface {
	// Take leases the oldest running job that no process works on. It returns lease.ErrHeld if there is no such job.
	Take(ctx context.Context, life time.Duration) (Held, error)
	// Next reads the next portion.
	Next(ctx context.Context, h Held, limit int) (Portion, error)
	// Count records the result of an item, moves the job behind the item and renews the lease. CountIn does so in a transaction
	// of the same storage.
	Count(ctx context.Context, h Held, e Ended, life time.Duration) error
	CountIn(ctx context.Context, tx changeset.Tx, h Held, e Ended, life time.Duration) error
	// Release gives the lease back, with the job moved to Behind.
	Release(ctx context.Context, h Held) error
	// Finish ends a job, and writes the entry in the same transaction.
	Finish(ctx context.Context, h Held, entry func(Job) support.AuditEntry) error
}

// Payments is the use cases for a single event and a single discrepancy.
type Payments interface {
	Replay(ctx context.Context, cmd intake.Replay) (intake.Replayed, error)
	Resolve(ctx context.Context, actor authz.Actor, cmd commands.Resolve) (payment.Discrepancy, error)
}

// RunnerOptions configure a Runner. All are required.
type RunnerOptions struct {
	Queue    Queue
	Payments Payments
	// Code returns the code of an error as the API has it.
	Code func(error) string
	// Log gets failures that are faults of the program; the job goes on with the next item.
	Log func(job Job, id uuid.UUID, err error)
	// Call is the time limit of a call to a provider. An event that has to be looked up needs one or two calls.
	Call time.Duration
}

// Runner works on jobs. It is safe for concurrent use.
type Runner struct {
	RunnerOptions

	// life is how long a process that died keeps others from its job; each item renews it.
	life time.Duration
	// portion is how many are done under one lease.
	portion int
}

const (
	usualLife    = 30 * time.Second
	usualPortion = 200
	// tries is how often an item is tried while another transaction has its attempt locked, with a pause between.
	tries      = 5
	triesPause = 100 * time.Millisecond
)

// NewRunner returns a runner.
func NewRunner(o RunnerOptions) *Runner {
	return &Runner{RunnerOptions: o, life: max(usualLife, 3*o.Call), portion: usualPortion}
}

// Work does a portion of a job, if there is a job that no other process works on, and reports whether there may be more. It
// returns an error if the storage is gone; the portion then continues later at the same place.
func (r *Runner) Work(ctx context.Context) (more bool, err error) {
	h, err := r.Queue.Take(ctx, r.life)
	if errors.Is(err, lease.ErrHeld) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	end, err := r.work(ctx, &h)
	switch last := context.WithoutCancel(ctx); {
	case errors.Is(err, lease.ErrLost):
		return false, nil // stopped, or another process goes on
	case err == nil && end:
		err = r.Queue.Finish(last, h, func(j Job) support.AuditEntry { return j.ended(payment.OnlyCell.NewID()) })
	default:
		err = errors.Join(err, r.Queue.Release(last, h))
	}
	if errors.Is(err, lease.ErrLost) {
		return false, nil
	}
	return err == nil, err
}

// work reports whether the job is through.
func (r *Runner) work(ctx context.Context, h *Held) (end bool, err error) {
	p, err := r.Queue.Next(ctx, *h, r.portion)
	if err != nil {
		return false, err
	}
	for _, id := range p.IDs {
		if ctx.Err() != nil {
			return false, nil //nolint:nilerr // the process stops; what is left is done later
		}
		if err := r.one(ctx, *h, id); err != nil {
			return false, err
		}
		h.Behind = id
	}
	if !p.End {
		h.Behind = p.Behind
	}
	return p.End, nil
}

// one does one event or discrepancy and counts it. Its errors end the portion.
func (r *Runner) one(ctx context.Context, h Held, id uuid.UUID) error {
	counted, err := false, error(nil)
	for range tries {
		err = lease.Guard(func() (err error) {
			counted, err = r.do(ctx, h, id)
			return err
		})
		if !errors.Is(err, payment.ErrBusy) {
			break
		}
		lease.Pause(ctx, triesPause)
	}
	switch {
	case ctx.Err() != nil && err != nil:
		return err
	case errors.Is(err, lease.ErrLost), errors.Is(err, payment.ErrUnavailable):
		return err
	case err == nil && counted:
		return nil
	}
	e := Ended{ID: id, Outcome: alreadyResolved}
	if err != nil {
		e.Outcome = r.Code(err)
		if e.Outcome == "internal" {
			r.Log(h.Job, id, err)
		}
	}
	return r.Queue.Count(ctx, h, e, r.life)
}

// do does an item and reports whether the item's own transaction counted it.
func (r *Runner) do(ctx context.Context, h Held, id uuid.UUID) (counted bool, err error) {
	if h.Kind == Replay {
		_, err = r.Payments.Replay(ctx, intake.Replay{ID: payment.EventID(id), With: func(ctx context.Context, tx intake.Tx, p intake.Replayed) error {
			e := Ended{ID: id, Outcome: string(p.Verdict)}
			if p.After != nil {
				e.AttemptID = &p.After.ID
			}
			return r.Queue.CountIn(ctx, tx, h, e, r.life)
		}})
		return true, err
	}
	_, err = r.Payments.Resolve(ctx, h.By.Actor, commands.Resolve{
		ID: payment.DiscrepancyID(id), Resolution: h.Resolution, Reason: h.Reason,
		With: func(ctx context.Context, tx commands.Tx, d payment.Discrepancy) error {
			counted = true
			ended := Ended{ID: id, AttemptID: d.AttemptID, Outcome: resolved}
			if d.Awaits() {
				ended.Outcome = awaitingSecond
			}
			return r.Queue.CountIn(ctx, tx, h, ended, r.life)
		},
	})
	return counted, err
}
