package support

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/activity"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
)

// Store reads the data for staff and writes the audit log. Its errors are those of
// package payment.
type Store interface {
	// AttemptHistory reads everything about an attempt.
	AttemptHistory(ctx context.Context, id payment.AttemptID) (AttemptHistory, error)
	// OrderActivity reads the activity log of an order as a whole, oldest first.
	OrderActivity(ctx context.Context, id payment.OrderID) ([]activity.Note, error)
	// EventShown reads a stored event with its bytes.
	EventShown(ctx context.Context, id payment.EventID) (Event, error)
	// AuditEntries lists the audit log, newest first.
	AuditEntries(ctx context.Context, q AuditQuery) ([]AuditEntry, error)
	// AuditInsert writes an entry of the audit log; AuditInsertIn writes it in a
	// transaction of the same storage.
	AuditInsert(ctx context.Context, d AuditEntry) error
	AuditInsertIn(ctx context.Context, tx changeset.Tx, d AuditEntry) error
}

// AuditQuery selects entries before an id; an empty field is any.
type AuditQuery struct {
	Actor    string
	Action   Action
	Target   string
	BeforeID uuid.UUID
	Limit    int
}

// AttemptHistory is everything about an attempt, each list oldest first.
type AttemptHistory struct {
	Attempt       payment.Attempt
	Order         payment.Order
	Transitions   []payment.Transition
	Activity      []activity.Note
	Events        []Event
	Refunds       []payment.Refund
	Settlements   []payment.Settlement
	Messages      []OutboxMessage
	Discrepancies []Discrepancy
	Audit         []AuditEntry
	// ReadAt is the clock of the storage.
	ReadAt time.Time
	// Provider has facts about the account's provider, and Clocks the shop's time zone. The store leaves both zero.
	Provider Provider
	Clocks   Clocks
}

// Event is a stored event.
type Event struct {
	ID              payment.EventID
	Account         string
	ProviderEventID string
	// Type is the provider's name of the event, Kind is ours.
	Type, Kind string
	Verdict    fsm.Verdict
	// Unsigned is true for a notice that any sender may have forged: only a lookup at
	// the provider counts.
	Unsigned   bool
	OrderID    payment.OrderID
	AttemptID  *payment.AttemptID
	Money      *payment.Money
	ReceivedAt time.Time
	OccurredAt *time.Time
	// Kept is true while the bytes are stored. Body may still be nil: lists leave out large bodies, and the
	// encryption key may be missing.
	Kept        bool
	ContentType string
	// Taken is how the event was taken in, as payment.TakenHeader has it; empty for a delivery that was genuine when it came.
	Taken string
	Body  []byte
}

// OutboxMessage is an update for the merchant.
type OutboxMessage struct {
	ID        uuid.UUID
	Type      string
	Version   int
	CreatedAt time.Time
	// Deliveries are how it stands with each endpoint.
	Deliveries []Delivery
}

// Delivery is how an update stands with an endpoint.
type Delivery struct {
	Endpoint string
	State    DeliveryState
	// Tries is the number of failed tries while it is undelivered.
	Tries int
	// DeliveredAt is when it was first delivered; nil if it was not.
	DeliveredAt *time.Time
	// Gone is set while nothing is sent to the endpoint.
	Gone bool
}

// DeliveryState is the next step of a delivery.
type DeliveryState string

// The states of a delivery.
const (
	// DeliveryAhead is a delivery that the endpoint has not reached; it is skipped if the endpoint does not take its type.
	DeliveryAhead DeliveryState = "ahead"
	// DeliveryWaiting is tried again, or tried once an earlier delivery of its subject succeeds.
	DeliveryWaiting DeliveryState = "waiting"
	// DeliveryDead was tried as often as the schedule permits.
	DeliveryDead DeliveryState = "dead"
	// DeliveryOver was delivered, or the endpoint does not take its type.
	DeliveryOver DeliveryState = "over"
)

// Discrepancy is a discrepancy with the event that is its cause.
type Discrepancy struct {
	payment.Discrepancy

	// EventID is the stored event, nil if there is none.
	EventID *payment.EventID
}
