package broker

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/platform/tracing"
)

const (
	// batchSize bounds one pass. passEvery is the least time between two passes: records share few commits, so that the
	// intake of webhooks does not slow down.
	batchSize = 500
	passEvery = 100 * time.Millisecond
	// lookEvery is how often a stream is looked at while nothing new is noticed.
	lookEvery = 2 * time.Second
	// openTime bounds opening a connection. publishTime bounds one pass's wait for the broker.
	openTime    = 15 * time.Second
	publishTime = 30 * time.Second
	// recordTime bounds the last write at a stop.
	recordTime = 5 * time.Second
	// firstPause follows the first failure. They double, and are moved by a half at most: one takes no longer than a minute.
	firstPause, longestPause, spread = time.Second, 40 * time.Second, 0.5
)

// Options are shared by all publishers. All fields are required.
type Options struct {
	Store Store
	// Head wakes the publishers.
	Head *outbox.Head
	// Encode renders an event as the feed has it: the same bytes for the same event.
	Encode func(outbox.Event) []byte
	Now    func() time.Time
	// Log is called with each failure, here or at the broker. The publisher then tries again.
	Log func(stream string, err error)
	// Lost is called with how many events were deleted before they were published.
	Lost func(stream string, events int64)
}

// Publisher publishes to one stream. Any number of processes may run one: that with the lease publishes.
type Publisher struct {
	Stream

	o Options
	// times and firstPause are the usual ones but in tests.
	times      lease.Times
	firstPause time.Duration
}

// NewPublisher returns a publisher that Run starts.
func NewPublisher(s Stream, o Options) *Publisher {
	return &Publisher{Stream: s, o: o, times: lease.Usual(), firstPause: firstPause}
}

// Run publishes until ctx ends.
func (p *Publisher) Run(ctx context.Context) {
	h := lease.Holder{
		Name: p.Name, Times: p.times, Take: p.o.Store.TakeStream, Renew: p.o.Store.RenewStream, Work: p.publishAll,
		Log: func(err error) { p.o.Log(p.Name, err) },
	}
	h.Run(ctx)
}

// publishAll makes passes until ctx ends. It returns the store's error; there may be one when ctx ends. After a failure of the
// broker it pauses and continues over a new connection.
func (p *Publisher) publishAll(ctx context.Context, l lease.Lease) error {
	c := &connection{open: p.Open}
	defer func() { c.close() }()
	pauses := &backoff.ExponentialBackOff{InitialInterval: p.firstPause, RandomizationFactor: spread, Multiplier: 2, MaxInterval: longestPause}
	pauses.Reset()
	for ctx.Err() == nil {
		moved, began := p.o.Head.Moved(), time.Now() //nolint:forbidigo // measures, with the monotonic clock
		done, err := p.pass(ctx, l, c)
		if err != nil {
			return err
		}
		if done.failed != nil && ctx.Err() == nil {
			c.close()
			p.o.Log(p.Name, done.failed)
			lease.Pause(ctx, pauses.NextBackOff())
			continue
		}
		pauses.Reset()
		if !done.more {
			lease.Rest(ctx, moved, lookEvery)
		}
		lease.Pause(ctx, passEvery-time.Since(began)) //nolint:forbidigo // as above
	}
	return nil
}

// passed is how a pass went.
type passed struct {
	// more is set where more may be there to be published at once.
	more bool
	// failed is the broker's error, or a panic.
	failed error
}

// pass publishes the new events behind the cursor once. It returns the store's error.
func (p *Publisher) pass(ctx context.Context, l lease.Lease, c *connection) (passed, error) {
	w, err := p.o.Store.StreamWork(ctx, l, batchSize)
	if err != nil {
		return passed{}, err
	}
	if w.Lost > 0 {
		if w, err = p.passOver(ctx, l, w); err != nil {
			return passed{}, err
		}
	}
	r, failed := p.publish(ctx, c, w)
	done := passed{more: len(w.Events) == batchSize, failed: failed}
	if r.Position == w.Position && !r.Succeeded && r.Failure == "" {
		return done, nil
	}
	// Acknowledged events are recorded at a stop, too. Otherwise they would be published again.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	return done, p.o.Store.RecordPublished(ctx, l, r)
}

// passOver reports events that were deleted before they were published, and moves the cursor behind them.
func (p *Publisher) passOver(ctx context.Context, l lease.Lease, w Work) (Work, error) {
	p.o.Lost(p.Name, w.Lost)
	w.Position, w.Lost = w.Until, 0
	if len(w.Events) > 0 {
		w.Position = w.Events[0].Position - 1
	}
	return w, p.o.Store.RecordPublished(ctx, l, Result{Position: w.Position, At: p.o.Now()})
}

// publish connects, unless that is done, and publishes the work.
func (p *Publisher) publish(ctx context.Context, c *connection, w Work) (r Result, failed error) {
	acknowledged := 0
	failed = lease.Guard(func() (err error) {
		if r.Succeeded, err = c.ensure(ctx); err != nil || len(w.Events) == 0 {
			return err
		}
		messages, spans := p.messages(ctx, w.Events)
		defer func() { end(spans, acknowledged) }()
		acknowledged, err = c.broker.Publish(ctx, messages)
		return err
	})
	r.Position, r.At = w.Position, p.o.Now()
	switch {
	case failed == nil:
		r.Position = w.Until
	case acknowledged > 0:
		r.Position = w.Events[acknowledged-1].Position
	}
	r.Succeeded = r.Succeeded || acknowledged > 0
	if failed != nil && ctx.Err() == nil {
		r.Failure = reason(failed)
	}
	return r, failed
}

// messages returns the messages of events, and their spans, if traces are on.
func (p *Publisher) messages(ctx context.Context, events []outbox.Event) (all []Message, spans []*tracing.Span) {
	all = make([]Message, len(events))
	for i, e := range events {
		all[i] = Message{ID: e.ID.String(), Type: e.Type, OrderID: e.OrderID, Subject: e.Subject, Body: p.o.Encode(e)}
		if _, span := outbox.Trace(ctx, e, "publish", p.Name); span != nil {
			all[i].Traceparent = span.Context().Traceparent()
			spans = append(spans, span)
		}
	}
	return all, spans
}

// end ends the spans of messages. The broker has acknowledged the first ones, as many as acknowledged.
func end(spans []*tracing.Span, acknowledged int) {
	for i, s := range spans {
		if i < acknowledged {
			s.End("acknowledged", false)
		} else {
			s.End("not acknowledged", true)
		}
	}
}

// reason is a failure as it is kept.
func reason(err error) string {
	if _, broke := errors.AsType[*lease.PanicError](err); broke {
		return "not published, because of a fault in paylatch; the log has the fault"
	}
	return outbox.Printable(err.Error())
}

// connection is one to a broker, or none yet.
type connection struct {
	open   func(ctx context.Context) (Broker, error)
	broker Broker
}

// ensure connects unless that is done, and reports whether it has.
func (c *connection) ensure(ctx context.Context) (connected bool, err error) {
	if c.broker != nil {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	c.broker, err = c.open(ctx)
	return err == nil, err
}

func (c *connection) close() {
	if c.broker != nil {
		c.broker.Close()
		c.broker = nil
	}
}
