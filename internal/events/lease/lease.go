// Package lease lets one process at a time work on a shared task.
//
//	take ─► work, and renew meanwhile ─► give back
//	          └─ lost: another process works from now on, and no write of this one counts
//
// Each lease has a fence, which rises from lease to lease. A write with an older fence must touch no row. So a process
// that was asleep for longer than its lease does no harm. Two processes may work at once, but a write of the first process
// has no effect after the second has begun.
package lease

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// life is how long a process that died keeps others from working; renewed each renewEvery.
	life       = 30 * time.Second
	renewEvery = 10 * time.Second
	// askEvery is how often the other processes try for the lease, and the pause after a failure.
	askEvery = 5 * time.Second
	// returnTime bounds the call that gives the lease back at a stop.
	returnTime = 5 * time.Second
)

var (
	// ErrHeld is returned while another process has the lease.
	ErrHeld = errors.New("another process has the lease")
	// ErrLost is returned for a write after the lease has ended.
	ErrLost = errors.New("the lease has ended")
)

// Lease is the right to work on the resource with this name.
type Lease struct {
	Name  string
	Fence int64
}

// Times are how long a lease lives, and how often it is renewed and tried for.
type Times struct{ Life, RenewEvery, AskEvery time.Duration }

// Usual returns the times of a process that serves.
func Usual() Times { return Times{Life: life, RenewEvery: renewEvery, AskEvery: askEvery} }

// Holder works under the lease of a name whenever it has that. All fields are required.
type Holder struct {
	Name string
	Times

	// Take takes the lease for a time. It returns ErrHeld.
	Take func(ctx context.Context, name string, life time.Duration) (Lease, error)
	// Renew renews a lease, or with 0 gives it back. It returns ErrLost.
	Renew func(ctx context.Context, l Lease, life time.Duration) error
	// Work works until ctx ends, and returns its error. ctx ends with the lease. Work is called again after a pause, also
	// after a panic.
	Work func(ctx context.Context, l Lease) error
	// Log is called with each error, including a *PanicError. The holder then tries again.
	Log func(error)
}

// Run works whenever the lease is to be had, until ctx ends.
func (h *Holder) Run(ctx context.Context) {
	for ctx.Err() == nil {
		err := Guard(func() error { return h.once(ctx) })
		if errors.Is(err, ErrLost) {
			continue // it was ended on purpose, or another process was faster
		}
		if err != nil && !errors.Is(err, ErrHeld) && ctx.Err() == nil {
			h.Log(err)
		}
		Pause(ctx, h.AskEvery)
	}
}

func (h *Holder) once(ctx context.Context) error {
	l, err := h.Take(ctx, h.Name, h.Life)
	if err != nil {
		return err
	}
	return h.hold(ctx, l)
}

// hold works under a lease until that or ctx ends, or the work fails. It gives the lease back.
func (h *Holder) hold(ctx context.Context, l Lease) error {
	held, lose := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() { lose(Guard(func() error { return h.renew(held, l) })) })
	err := Guard(func() error { return h.Work(held, l) })
	lose(err)
	renewing.Wait()
	if errors.Is(context.Cause(held), ErrLost) {
		return ErrLost
	}
	if _, broke := errors.AsType[*PanicError](context.Cause(held)); broke && err == nil {
		err = context.Cause(held)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), returnTime)
	defer cancel()
	return errors.Join(err, h.Renew(last, l, 0))
}

// renew keeps the lease until ctx ends. It returns ErrLost once the lease is another's, or has ended because the store did
// not answer.
func (h *Holder) renew(ctx context.Context, l Lease) error {
	ends := time.Now().Add(h.Life) //nolint:forbidigo // a lease is kept by the database's clock, and measured by this one
	for Pause(ctx, h.RenewEvery); ctx.Err() == nil; Pause(ctx, h.RenewEvery) {
		began := time.Now() //nolint:forbidigo // as above
		switch err := h.Renew(ctx, l, h.Life); {
		case err == nil:
			ends = began.Add(h.Life)
		case errors.Is(err, ErrLost), !began.Before(ends):
			return ErrLost
		}
	}
	return nil
}
