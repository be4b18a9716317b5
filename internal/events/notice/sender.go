package notice

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/events/outbox"
)

// Mailer sends a mail, and returns nil once a mail server has taken it.
type Mailer interface {
	Send(ctx context.Context, m Message) error
}

// Notice is a notice of the configuration.
type Notice struct {
	Name string
	// Kinds are the kinds of cases that the notice sends, or Any.
	Kinds  []string
	Mailer Mailer
}

// Work is the new cases for a notice.
type Work struct {
	// Position is the stored cursor. Until is the cursor after Events.
	Position, Until outbox.Position
	Events          []outbox.Event
	// Requests are open, came after the notice and are not sent.
	Requests []Request
	// Endpoints fail, and are not sent since they began to.
	Endpoints []FailingEndpoint
	// Since is how long ago its last mail was taken.
	Since time.Duration
	// Lost counts the events that were deleted before they were read.
	Lost int64
}

// Result is the result of some work.
type Result struct {
	Position outbox.Position
	// Requests are sent, or not of the notice's kinds.
	Requests []uuid.UUID
	// Endpoints are sent, or not of the notice's kinds.
	Endpoints []string
	// Sent is set if the server accepted a mail.
	Sent bool
	// Failure is empty unless the mail server has failed.
	Failure string
}

// Store keeps the notices.
type Store interface {
	// RegisterNotices adds new notices, at the head of the feed.
	RegisterNotices(ctx context.Context, names []string) error
	// TakeNotice takes the lease for a time. It returns lease.ErrHeld.
	TakeNotice(ctx context.Context, name string, life time.Duration) (lease.Lease, error)
	// RenewNotice renews a lease, or with 0 gives it back. It returns lease.ErrLost.
	RenewNotice(ctx context.Context, l lease.Lease, life time.Duration) error
	// NoticeWork reads at most limit events and requests, and the endpoints that fail. It returns lease.ErrLost.
	NoticeWork(ctx context.Context, l lease.Lease, endpoints []string, limit int) (Work, error)
	// RecordNotice records a result; the cursor never moves back. It returns lease.ErrLost, and has recorded nothing then.
	RecordNotice(ctx context.Context, l lease.Lease, r Result) error
}

const (
	// batchSize bounds the events, and the requests, of one mail.
	batchSize = 100
	// mailEvery is the minimum time between two mails, lookEvery the time between two passes of a notice.
	mailEvery = time.Minute
	lookEvery = 5 * time.Second
	// recordTime bounds the time for recording the result at a stop.
	recordTime = 5 * time.Second
	// firstPause follows the first failure. The pauses double, and vary by a half at most.
	firstPause, longestPause, spread = 5 * time.Second, 5 * time.Minute, 0.5
)

// Options are shared by all notices. All but Console and Endpoints are required.
type Options struct {
	Store Store
	// Console is the public address of the console, without a path; mails have no links without one.
	Console string
	// Endpoints are the names of the configured endpoints.
	Endpoints []string
	Now       func() time.Time
	// Log is called with a failure, here or at the mail server; the work is tried again.
	Log func(notice string, err error)
	// Lost is called with the number of events that were deleted before they were read.
	Lost func(notice string, events int64)
}

// times are the usual ones but in tests.
type times struct {
	lease                       lease.Times
	mailEvery, lookEvery, first time.Duration
}

func usual() times { return times{lease.Usual(), mailEvery, lookEvery, firstPause} }

// Sender sends one notice. Any number of processes may run one; the process with the lease sends.
type Sender struct {
	Notice

	o Options
	times
}

// NewSender returns a sender that Run starts.
func NewSender(n Notice, o Options) *Sender { return &Sender{n, o, usual()} }

// Run sends until ctx ends.
func (s *Sender) Run(ctx context.Context) {
	h := lease.Holder{
		Name: s.Name, Times: s.lease, Take: s.o.Store.TakeNotice, Renew: s.o.Store.RenewNotice, Work: s.sendAll,
		Log: func(err error) { s.o.Log(s.Name, err) },
	}
	h.Run(ctx)
}

// sendAll makes passes until ctx ends, and returns the error of the store.
func (s *Sender) sendAll(ctx context.Context, l lease.Lease) error {
	pauses := &backoff.ExponentialBackOff{InitialInterval: s.first, RandomizationFactor: spread, Multiplier: 2, MaxInterval: longestPause}
	pauses.Reset()
	for ctx.Err() == nil {
		done, err := s.pass(ctx, l)
		switch {
		case err != nil:
			return err
		case done.failed != nil && ctx.Err() == nil:
			s.o.Log(s.Name, done.failed)
			lease.Pause(ctx, pauses.NextBackOff())
			continue
		}
		pauses.Reset()
		if !done.more {
			lease.Pause(ctx, s.lookEvery)
		}
	}
	return nil
}

// passed is how a pass went.
type passed struct {
	// more is set if there may be more to read at once.
	more bool
	// failed is the error of the mail server, or a panic.
	failed error
}

// pass sends the new cases once, unless the last mail was too short a time ago. It returns the error of the store.
func (s *Sender) pass(ctx context.Context, l lease.Lease) (passed, error) {
	w, err := s.o.Store.NoticeWork(ctx, l, s.o.Endpoints, batchSize)
	if err != nil {
		return passed{}, err
	}
	if w.Lost > 0 {
		if w, err = s.passOver(ctx, l, w); err != nil {
			return passed{}, err
		}
	}
	cases := w.cases(s.Kinds)
	done := passed{more: len(w.Events) == batchSize && len(cases) == 0}
	if len(cases) > 0 {
		if w.Since < s.mailEvery {
			return passed{}, nil
		}
		done.failed = lease.Guard(func() error { return s.Mailer.Send(ctx, message(s.Name, s.o.Console, cases, s.o.Now())) })
	}
	r := w.result(len(cases) > 0, done.failed)
	if r.Position == w.Position && len(r.Requests) == 0 && len(r.Endpoints) == 0 && !r.Sent && (r.Failure == "" || ctx.Err() != nil) {
		return done, nil
	}
	// A mail that the server has accepted is recorded even at a stop; otherwise it would be sent again.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	return done, s.o.Store.RecordNotice(ctx, l, r)
}

// passOver reports events that were deleted before they were read, and moves the cursor behind them.
func (s *Sender) passOver(ctx context.Context, l lease.Lease, w Work) (Work, error) {
	s.o.Lost(s.Name, w.Lost)
	w.Position, w.Lost = w.Until, 0
	if len(w.Events) > 0 {
		w.Position = w.Events[0].Position - 1
	}
	return w, s.o.Store.RecordNotice(ctx, l, Result{Position: w.Position})
}

// result returns the result to record after the work, with or without a mail.
func (w Work) result(mailed bool, failed error) Result {
	if failed != nil {
		return Result{Position: w.Position, Failure: outbox.Printable(failed.Error())}
	}
	r := Result{Position: w.Until, Sent: mailed}
	for _, request := range w.Requests {
		r.Requests = append(r.Requests, request.ID)
	}
	for _, e := range w.Endpoints {
		r.Endpoints = append(r.Endpoints, e.Name)
	}
	return r
}
