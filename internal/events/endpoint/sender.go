package endpoint

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/events/outbox"
)

const (
	// lookEvery is how long a redelivery waits that another process was requested to make.
	lookEvery = 2 * time.Second
	// batchSize and retriesAtOnce bound one pass. passEvery is the least time between two passes: a receiver gets no more
	// than 1,000 new events a second, and records share few commits, so that the intake of webhooks does not slow down.
	batchSize     = 100
	retriesAtOnce = 50
	passEvery     = 100 * time.Millisecond
	// passedOver is how far the cursor runs ahead of the kept one over events of other types.
	passedOver = 1000
	// keepEvery is how often the kept cursor follows over fewer events of other types. Events behind it count as undelivered.
	keepEvery = 10 * time.Second
	// recordTime bounds the last write at a stop.
	recordTime = 5 * time.Second

	statusGone = http.StatusGone
)

// Options are shared by all senders. Store, Feed, Head, Encode, Now, Log and Lost are required.
type Options struct {
	Store Store
	// Feed is where a redelivery begins.
	Feed *outbox.Feed
	// Head wakes the senders.
	Head *outbox.Head
	// Encode renders an event as the feed has it: the same bytes for the same event.
	Encode func(outbox.Event) []byte
	Now    func() time.Time
	// Log is called with each failure here, but not with a receiver's. The sender then tries again.
	Log func(endpoint string, err error)
	// Lost is called with how many events, of any type, were deleted before they were delivered.
	Lost func(endpoint string, events int64)
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
	// times are the usual ones but in tests.
	times lease.Times
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
	s := &Sender{Endpoint: e, o: o, client: c, schedule: e.Schedule, times: lease.Usual()}
	if len(s.schedule) == 0 {
		s.schedule = DefaultSchedule()
	}
	return s, nil
}

// Run delivers until ctx ends. Requests under way are then cut off. The next holder of the lease sends them again.
func (s *Sender) Run(ctx context.Context) {
	defer s.client.Close()
	h := lease.Holder{
		Name: s.Name, Times: s.times, Take: s.o.Store.TakeEndpoint, Renew: s.o.Store.RenewEndpoint, Work: s.deliverAll,
		Log: func(err error) { s.o.Log(s.Name, err) },
	}
	h.Run(ctx)
}

// deliverAll makes passes until ctx ends. It returns the store's error; there may be one when ctx ends.
func (s *Sender) deliverAll(ctx context.Context, l lease.Lease) error {
	var read outbox.Cursor
	kept := time.Now() //nolint:forbidigo // measures, with the monotonic clock
	for ctx.Err() == nil {
		moved, began := s.o.Head.Moved(), time.Now() //nolint:forbidigo // as above
		done, err := s.pass(ctx, l, read, began.Sub(kept) >= keepEvery)
		if err != nil {
			return err
		}
		read = done.read
		if done.kept {
			kept = began
		}
		if !done.more {
			lease.Rest(ctx, moved, restTime(done.next))
		}
		lease.Pause(ctx, passEvery-time.Since(began)) //nolint:forbidigo // as above
	}
	return nil
}

// passed is how far a pass came.
type passed struct {
	read outbox.Cursor
	// kept is set where the kept cursor is as far.
	kept bool
	// more is set where more may be there to be sent at once.
	more bool
	// next is in how long the next retry is due; nil where none waits.
	next *time.Duration
}

// pass sends the new events behind a position, or behind the kept cursor, and the due retries, once each. With keep the kept
// cursor follows even if nothing was sent.
func (s *Sender) pass(ctx context.Context, l lease.Lease, from outbox.Cursor, keep bool) (passed, error) {
	w, err := s.o.Store.EndpointWork(ctx, l, Wanted{From: from, Types: s.Types, Events: batchSize, Retries: retriesAtOnce})
	if err != nil || w.State == Gone {
		return passed{read: from}, err
	}
	done := passed{read: outbox.Cursor{Epoch: w.Epoch, Position: w.Until}, more: len(w.Events) == batchSize || len(w.Due) > 0, next: w.NextDue}
	idle, over := w.Lost == 0 && len(w.Events) == 0 && len(w.Due) == 0, w.Until-w.Position
	done.kept = !idle || keep || over == 0 || over >= passedOver
	if idle && (over == 0 || !done.kept) {
		return done, nil
	}
	if w.Lost > 0 {
		s.o.Lost(s.Name, w.Lost)
	}
	r, err := s.deliver(ctx, w)
	if err != nil {
		return done, err
	}
	done.more = done.more || len(r.Retries) > 0
	// Sent events are recorded at a stop, too. Otherwise they would be sent again.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	return done, s.o.Store.RecordDeliveries(ctx, l, r)
}

// restTime is how long nothing is there to be sent, unless the head moves.
func restTime(next *time.Duration) time.Duration {
	if next == nil {
		return lookEvery
	}
	return min(lookEvery, max(*next, 0))
}
