package broker

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/events/outbox"
)

// Message is an event as a broker gets it.
type Message struct {
	ID, Type string
	// OrderID is empty for an event without an order.
	OrderID, Subject string
	// Traceparent names the span of the delivery (W3C Trace Context); empty where traces are off.
	Traceparent string
	Body        []byte
}

// headerTraceparent is the name of a message's header.
const headerTraceparent = "traceparent"

// Key returns the partitioning key: the order's id, or the subject for an event without an order.
func (m Message) Key() string {
	if m.OrderID == "" {
		return m.Subject
	}
	return m.OrderID
}

// Broker is a connection to a broker.
type Broker interface {
	// Publish publishes messages, none of an order or a subject before the broker has acknowledged the one before. It
	// returns how many of the first of them are acknowledged, all unless there is an error. Some behind those may be stored,
	// too. After an error only Close may be called.
	Publish(ctx context.Context, messages []Message) (acknowledged int, err error)
	// Close drops messages that are not acknowledged.
	Close()
}

// Stream is a stream of the configuration.
type Stream struct {
	Name string
	// Open connects, and returns an error for a broker that would not take the events.
	Open func(ctx context.Context) (Broker, error)
}

// Work is the events to publish in one pass.
type Work struct {
	// Position is the stored cursor. Until is the cursor after Events.
	Position, Until outbox.Position
	Events          []outbox.Event
	// Lost counts the events that were deleted before they were read.
	Lost int64
}

// Result is the outcome of one pass.
type Result struct {
	// Position is the position of the last acknowledged event.
	Position outbox.Position
	At       time.Time
	// Succeeded is set where the broker has acknowledged something, or was connected to anew.
	Succeeded bool
	// Failure is empty unless the broker has failed.
	Failure string
}

// Status is how far a stream is.
type Status struct {
	Name string
	// Behind counts the events after the cursor.
	Behind int64
	// Oldest is when the first unpublished event happened; zero where none is unpublished.
	Oldest                   time.Time
	LastSuccess, LastFailure *time.Time
	// LastError is empty while the broker works.
	LastError string
}

// Failing reports whether the broker has failed since its last success.
func (s Status) Failing() bool { return s.LastError != "" }

// Store keeps the streams.
type Store interface {
	// RegisterStreams adds streams that are new, at the head of the feed.
	RegisterStreams(ctx context.Context, names []string) error
	// TakeStream takes the lease for a time. It returns lease.ErrHeld.
	TakeStream(ctx context.Context, name string, life time.Duration) (lease.Lease, error)
	// RenewStream renews a lease, or with 0 gives it back. It returns lease.ErrLost.
	RenewStream(ctx context.Context, l lease.Lease, life time.Duration) error
	// StreamWork reads at most limit events behind the cursor. It returns lease.ErrLost.
	StreamWork(ctx context.Context, l lease.Lease, limit int) (Work, error)
	// RecordPublished records a result; the cursor never moves back. It returns lease.ErrLost, and has recorded nothing then.
	RecordPublished(ctx context.Context, l lease.Lease, r Result) error
	StreamStatuses(ctx context.Context, names []string) ([]Status, error)
}
