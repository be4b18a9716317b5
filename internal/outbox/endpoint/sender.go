package endpoint

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/paylatch/paylatch/internal/outbox"
)

const (
	// leaseLife is how long a process that died keeps others from delivering; renewed each renewEvery.
	leaseLife  = 30 * time.Second
	renewEvery = 10 * time.Second
	// askEvery is how often the other processes try for the lease.
	askEvery = 5 * time.Second
	// lookEvery is how long a redelivery waits that another process was requested to make.
	lookEvery = 2 * time.Second
	// batchSize and retriesAtOnce bound one pass, and passEvery is the least time from one to the next: a receiver gets no more
	// than 1,000 new events a second, and what is recorded shares few commits, so that webhooks are not taken in more slowly.
	batchSize     = 100
	retriesAtOnce = 50
	passEvery     = 100 * time.Millisecond
	// passedOver is how far the cursor runs ahead of the kept one over events of other types.
	passedOver = 1000
	// recordTime bounds what is still recorded at a stop.
	recordTime = 5 * time.Second

	statusGone = http.StatusGone
)

// Options are what all senders share. Store, Feed, Head, Encode, Now and Log are required.
type Options struct {
	Store Store
	// Feed is where a redelivery begins.
	Feed *outbox.Feed
	// Head wakes the senders.
	Head *outbox.Head
	// Encode renders an event as the feed has it: the same bytes for the same event.
	Encode func(outbox.Event) []byte
	Now    func() time.Time
	// Log is called with what failed here, not at a receiver; it is tried again.
	Log func(endpoint string, err error)
	// Resolver looks names up; nil means the system's.
	Resolver *net.Resolver
	// Jitter returns numbers from 0 to 1 that spread the retries; nil means random ones.
	Jitter func() float64
}

// Sender delivers to one endpoint. Any number of processes may run one: that with the lease delivers.
type Sender struct {
	Endpoint

	o        Options
	client   *Client
	schedule []time.Duration
	// leaseLife, renewEvery and askEvery are the constants but in tests.
	leaseLife, renewEvery, askEvery time.Duration
}

// NewSender returns an error for a secret that is none.
func NewSender(e Endpoint, o Options) (*Sender, error) {
	c, err := NewClient(e, o)
	if err != nil {
		return nil, err
	}
	if o.Jitter == nil {
		o.Jitter = jitter
	}
	s := &Sender{Endpoint: e, o: o, client: c, schedule: e.Schedule, leaseLife: leaseLife, renewEvery: renewEvery, askEvery: askEvery}
	if len(s.schedule) == 0 {
		s.schedule = DefaultSchedule()
	}
	return s, nil
}

// Run delivers until ctx ends. What is under way then is cut off, and sent again by the next that has the lease.
func (s *Sender) Run(ctx context.Context) {
	defer s.client.Close()
	for ctx.Err() == nil {
		l, err := s.o.Store.TakeEndpoint(ctx, s.Name, s.leaseLife)
		if err == nil {
			err = s.hold(ctx, l)
		}
		if errors.Is(err, ErrLost) {
			continue // it was set back, or another process was faster
		}
		if err != nil && !errors.Is(err, ErrHeld) && ctx.Err() == nil {
			s.o.Log(s.Name, err)
		}
		pause(ctx, s.askEvery)
	}
}

// hold delivers under a lease until that or ctx ends, or the store fails. It gives the lease back.
func (s *Sender) hold(ctx context.Context, l Lease) error {
	held, lose := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() { lose(s.renew(held, l)) })
	err := s.deliverAll(held, l)
	lose(err)
	renewing.Wait()
	if errors.Is(context.Cause(held), ErrLost) {
		return ErrLost
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	return errors.Join(err, s.o.Store.RenewEndpoint(last, l, 0))
}

// renew keeps the lease until ctx ends. It returns ErrLost once the lease is another's, or has ended because the store did
// not answer.
func (s *Sender) renew(ctx context.Context, l Lease) error {
	ends := time.Now().Add(s.leaseLife) //nolint:forbidigo // a lease is kept by the database's clock, and measured by this one
	for pause(ctx, s.renewEvery); ctx.Err() == nil; pause(ctx, s.renewEvery) {
		began := time.Now() //nolint:forbidigo // as above
		switch err := s.o.Store.RenewEndpoint(ctx, l, s.leaseLife); {
		case err == nil:
			ends = began.Add(s.leaseLife)
		case errors.Is(err, ErrLost), !began.Before(ends):
			return ErrLost
		}
	}
	return nil
}

// deliverAll makes passes until ctx ends, and returns what the store fails with, which it may at the end.
func (s *Sender) deliverAll(ctx context.Context, l Lease) error {
	var read outbox.Position
	for ctx.Err() == nil {
		moved, began := s.o.Head.Moved(), time.Now() //nolint:forbidigo // measures, with the monotonic clock
		done, err := s.pass(ctx, l, read)
		if err != nil {
			return err
		}
		read = done.read
		if !done.more {
			s.rest(ctx, moved, done.next)
		}
		pause(ctx, passEvery-time.Since(began)) //nolint:forbidigo // as above
	}
	return nil
}

// passed is how far a pass came.
type passed struct {
	read outbox.Position
	// more is set where more may be there to be sent at once.
	more bool
	// next is when the next retry is due; zero where none is.
	next time.Time
}

// pass sends once what is new behind a position, or the kept cursor, and what is due.
func (s *Sender) pass(ctx context.Context, l Lease, from outbox.Position) (passed, error) {
	w, err := s.o.Store.EndpointWork(ctx, l, Wanted{From: from, Types: s.Types, Now: s.o.Now(), Events: batchSize, Retries: retriesAtOnce})
	if err != nil || w.State == Gone {
		return passed{read: from}, err
	}
	done := passed{read: w.Until, more: len(w.Events) == batchSize || len(w.Due) > 0, next: w.NextDue}
	if len(w.Events) == 0 && len(w.Due) == 0 && w.Until-w.Position < passedOver {
		return done, nil
	}
	r := s.deliver(ctx, w)
	done.more = done.more || len(r.Retries) > 0
	// What was sent is recorded at a stop, too, or it would be sent again.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	return done, s.o.Store.RecordDeliveries(ctx, l, r)
}

// rest waits until something may be there to be sent.
func (s *Sender) rest(ctx context.Context, moved <-chan struct{}, next time.Time) {
	d := lookEvery
	if !next.IsZero() {
		d = min(d, max(next.Sub(s.o.Now()), 0))
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-moved:
	case <-timer.C:
	}
}

// pause returns early when ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
