package endpoint

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/events/outbox"
)

// TestType is the type of the event that is sent for a test. It is in no feed.
const TestType = "endpoint.test"

// Endpoint is an address that events are delivered to.
type Endpoint struct {
	Name, URL string
	// Secrets sign, each, all requests: "whsec_" and base64. There are two while one is rotated.
	Secrets []string
	// Types are those that are delivered; all where none is given.
	Types []string
	// Schedule is how long to wait after each try that failed; DefaultSchedule where it is empty.
	Schedule []time.Duration
	// AllowPrivate permits addresses that are not public, and plain HTTP.
	AllowPrivate bool
}

// State is whether an endpoint takes deliveries.
type State string

// The states of an endpoint.
const (
	Active State = "active"
	// Gone is that of one that answered 410.
	Gone State = "gone"
)

var (
	// ErrNotFound is returned for an endpoint that is not configured.
	ErrNotFound = errors.New("no such endpoint is configured")
	// ErrAhead is returned for a cursor that the endpoint has not come to yet.
	ErrAhead = errors.New("the endpoint has not reached this cursor yet")
)

// UnknownError is returned for ids of events that an endpoint was not sent, or that are not kept any more.
type UnknownError struct{ IDs []uuid.UUID }

// Error implements error.
func (e *UnknownError) Error() string { return "the endpoint was not sent events with these ids" }

// Retry is an event that was not delivered.
type Retry struct {
	Event outbox.Event
	// New distinguishes one that failed now for the first time, or waits for such a one.
	New bool
	// Tries were made; none of one that waits for an earlier event of its subject.
	Tries int
	// Pause is how long after it was recorded it is tried again.
	Pause time.Duration
	// Dead is set after the last try.
	Dead   bool
	Status int
	Error  string
}

// Attempt is one request, as the log has it.
type Attempt struct {
	// Number is given by the log, and rises.
	Number   int64
	Position outbox.Position
	// OrderID is that of the event, empty for one of no order.
	OrderID string
	EventID uuid.UUID
	// Type is that of the event. It is read with the log, empty where the event is not kept any more.
	Type string
	At   time.Time
	// Status is 0 where no response came.
	Status int
	Took   time.Duration
	// Error is empty for a success.
	Error string
}

// Wanted bounds and filters one read of a sender.
type Wanted struct {
	// From replaces an older cursor of its epoch: the events before From are of other types.
	From outbox.Cursor
	// Types are those of the endpoint.
	Types           []string
	Events, Retries int
}

// Work is the events to send in one pass.
type Work struct {
	State State
	// Epoch is the feed's present epoch. Position is the stored cursor. Until is the cursor after Events.
	Epoch           int64
	Position, Until outbox.Position
	Events          []outbox.Event
	// Lost counts the events, of any type, that were deleted before they were read.
	Lost int64
	// Due are the retries that are due, at most one of a subject.
	Due []Retry
	// Waiting are the subjects of Events that have retries.
	Waiting map[string]bool
	// NextDue is in how long a retry is due, 0 or less for at once; nil where none waits.
	NextDue *time.Duration
}

// Result is the outcome of one pass.
type Result struct {
	Position outbox.Position
	// Delivered are events, those of retries included.
	Delivered []outbox.Event
	Retries   []Retry
	Attempts  []Attempt
	Gone      bool
}

// Status is how far an endpoint is.
type Status struct {
	Name  string
	State State
	// Host is that of its address; the rest of that may be secret.
	Host   string
	Cursor outbox.Cursor
	// Behind counts the events after the cursor, of any type.
	Behind int64
	// Retries wait to be tried again, or for an earlier event of their subject; Dead are given up.
	Retries, Dead int64
	// Oldest is when the first undelivered event happened; zero where none is undelivered.
	Oldest                   time.Time
	LastSuccess, LastFailure *time.Time
	LastError                string
	// Cell is the number of the cell that the events come from, where the endpoints of several are read together; else nil.
	Cell *int
}

// Store keeps the endpoints.
type Store interface {
	// RegisterEndpoints adds endpoints that are new, at the head of the feed. Another digest of the address than
	// before ends the state Gone.
	RegisterEndpoints(ctx context.Context, digests map[string][]byte) error
	// TakeEndpoint takes the lease for a time. It returns lease.ErrHeld.
	TakeEndpoint(ctx context.Context, name string, life time.Duration) (lease.Lease, error)
	// RenewEndpoint renews a lease, or with 0 gives it back. It returns lease.ErrLost.
	RenewEndpoint(ctx context.Context, l lease.Lease, life time.Duration) error
	// EndpointWork reads the events to send. It returns lease.ErrLost if the lease has ended.
	EndpointWork(ctx context.Context, l lease.Lease, w Wanted) (Work, error)
	// RecordDeliveries records a result. It returns lease.ErrLost, and has recorded nothing then.
	RecordDeliveries(ctx context.Context, l lease.Lease, r Result) error
	EndpointStatuses(ctx context.Context, names []string) ([]Status, error)
	// EndpointAttempts lists the log, newest first, before the attempt of a number.
	EndpointAttempts(ctx context.Context, name string, before int64, failed bool, limit int) ([]Attempt, error)
	// SetEndpointBack moves the cursor back, and makes the endpoint Active. It returns ErrAhead.
	SetEndpointBack(ctx context.Context, name string, to outbox.Position) error
	// RetryEvents has events sent again from now on, and makes the endpoint Active. It returns an *UnknownError.
	RetryEvents(ctx context.Context, name string, ids []uuid.UUID) error
	// PurgeDeliveries deletes at most limit attempts from before a time, and at most limit retries of events that are
	// deleted already. It returns the larger of the two counts, and for each endpoint the number of undelivered events
	// that it lost.
	PurgeDeliveries(ctx context.Context, before time.Time, limit int) (purged int, lost map[string]int64, err error)
}
