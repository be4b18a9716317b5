package support

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// Store reads what is shown and keeps the audit log. Its errors are those of
// package payment.
type Store interface {
	// Search finds whatever has an id that is, or begins with, the query's text.
	Search(ctx context.Context, q SearchQuery) ([]Hit, error)
	// Case reads all that is known of an attempt.
	Case(ctx context.Context, id payment.AttemptID) (Case, error)
	// EventShown reads a stored event with its bytes.
	EventShown(ctx context.Context, id payment.EventID) (Event, error)
	// Discrepancies lists, newest first; DiscrepancyShown reads one.
	Discrepancies(ctx context.Context, q DiscrepancyQuery) ([]Discrepancy, error)
	DiscrepancyShown(ctx context.Context, id payment.DiscrepancyID) (Discrepancy, error)
	// Deeds lists the audit log, newest first.
	Deeds(ctx context.Context, q DeedQuery) ([]Deed, error)
	// DeedInsert writes an entry of the audit log; DeedIn writes it in a transaction
	// of the same storage.
	DeedInsert(ctx context.Context, d Deed) error
	DeedIn(ctx context.Context, tx payment.Tx, d Deed) error
}

// Hit is something that was found.
type Hit struct {
	// Type is order, attempt, refund or event.
	Type, ID string
	// OrderID and AttemptID are what it belongs to; zero if to nothing.
	OrderID   payment.OrderID
	AttemptID *payment.AttemptID
	// Status is the thing's own; of an event, its verdict.
	Status string
	// Matched is the field that the text is the beginning of.
	Matched string
	At      time.Time
}

// SearchQuery asks for what is older than Before and, of the same time, before
// BeforeID.
type SearchQuery struct {
	Text string
	// First and Last bound the ids of ours that begin with the text.
	First, Last uuid.UUID
	Before      time.Time
	BeforeID    string
	Limit       int
}

// DiscrepancyQuery asks as SearchQuery. An empty Status or Kind is any.
type DiscrepancyQuery struct {
	// Status is open or resolved.
	Status   string
	Kind     payment.DiscrepancyKind
	Before   time.Time
	BeforeID uuid.UUID
	Limit    int
}

// DeedQuery asks for entries before an id; what is empty is any.
type DeedQuery struct {
	Actor    string
	Action   Action
	Target   string
	BeforeID uuid.UUID
	Limit    int
}

// Case is all that is known of an attempt, each list oldest first.
type Case struct {
	Attempt       payment.Attempt
	Order         payment.Order
	Transitions   []payment.Transition
	Notes         []payment.Note
	Events        []Event
	Refunds       []payment.Refund
	News          []News
	Discrepancies []Discrepancy
	Deeds         []Deed
	// ReadAt is the clock of the storage.
	ReadAt time.Time
}

// Event is a stored event.
type Event struct {
	ID              payment.EventID
	Account         string
	ProviderEventID string
	// Type is the provider's name of the event, Kind is ours.
	Type, Kind string
	Verdict    fsm.Verdict
	// Unsigned says that anybody may have sent it: only what the provider says when it
	// is asked counts.
	Unsigned   bool
	OrderID    payment.OrderID
	AttemptID  *payment.AttemptID
	Money      *payment.Money
	ReceivedAt time.Time
	OccurredAt *time.Time
	// Kept says that the bytes are stored. Body may be nil all the same in a list,
	// where large ones are left out.
	Kept        bool
	ContentType string
	Body        []byte
}

// News is news for the merchant.
type News struct {
	ID        uuid.UUID
	Type      string
	Version   int
	CreatedAt time.Time
	// SentAt is nil while it has not been delivered.
	SentAt *time.Time
}

// Discrepancy is what a person must look at.
type Discrepancy struct {
	payment.Discrepancy

	// EventID is the stored event that is the cause, nil if it is none.
	EventID *payment.EventID
	// Circumstances are what its possible resolutions depend on.
	Circumstances payment.Circumstances
	// ReadAt is the clock of the storage.
	ReadAt time.Time
}
