package changeset

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
)

// Tx is an open transaction, READ COMMITTED. Locks that it waits for are taken in the
// order key, event, order, attempt, discrepancy, and within one kind by id. Only a pay
// takes its order before its key. Attempts that it has locked are returned with their
// movements and operations.
type Tx interface {
	// Now is the database's clock at the transaction's start.
	Now() time.Time
	// AttemptLock locks one attempt and then reads its order with all attempts, in one round trip. The result contains
	// the commit of the lock's previous holder.
	AttemptLock(ctx context.Context, id payment.AttemptID) (payment.Attempt, payment.Order, error)
	// OrderLock locks an order and all its attempts.
	OrderLock(ctx context.Context, id payment.OrderID) (payment.Order, error)
	// AttemptsTake locks the attempts in ids that are not locked yet, reads the owners of names, and locks the parked
	// events that use the names, in one round trip.
	AttemptsTake(ctx context.Context, ids []payment.AttemptID, names []payment.Reference) (Taken, error)
	// OrdersBeside locks the live attempts of the orders in stop that are not locked yet. Then it reads the orders in
	// ids with all their attempts, in one round trip. It never waits. An attempt of each order must be locked, so that
	// no attempt can be added meanwhile.
	OrdersBeside(ctx context.Context, ids, stop []payment.OrderID) (map[payment.OrderID]payment.Order, []payment.Attempt, error)
	// RefundsLock reads all refunds of attempts that are locked.
	RefundsLock(ctx context.Context, ids []payment.AttemptID) ([]payment.Refund, error)
	// MovementOwners reads the attempts that have the named movements.
	MovementOwners(ctx context.Context, names []payment.MovementName) (map[payment.MovementName]payment.AttemptID, error)
	// DisputesNamed reads the disputes with some names, of any attempt, and the reported moves of their money, in the
	// order of their numbers.
	DisputesNamed(ctx context.Context, names []payment.DisputeName) ([]payment.Dispute, []payment.DisputeMove, error)
	// MethodsLock locks the stored payment methods with some names, in the order of their names. It waits for another
	// transaction that has them; attempts must not be locked after it by waiting.
	MethodsLock(ctx context.Context, names []payment.MethodName) ([]payment.StoredMethod, error)
	// EventsParkedOf locks the parked events that use any name of an attempt: the names on disk and others. It reads
	// neither headers nor bytes.
	EventsParkedOf(ctx context.Context, a payment.Attempt, others []string) ([]payment.StoredEvent, error)
	// EventsSettle writes verdict, attempt, tries and next try of locked events, each once.
	EventsSettle(ctx context.Context, events []payment.StoredEvent) error
	// Save writes everything that a changeset has changed, before the commit. A reference, a
	// named movement or a dispute that another attempt was given meanwhile makes the
	// transaction run again, and so does a stored payment method that has changed meanwhile.
	Save(ctx context.Context, w Writes) error
}

// Taken is the result of AttemptsTake.
type Taken struct {
	Attempts []payment.Attempt
	Owners   map[payment.Reference]payment.AttemptID
	Parked   []payment.StoredEvent
}

// Writes are the rows that a changeset has changed or made.
type Writes struct {
	Attempts []AttemptWrite
	Refunds  []RefundWrite
	Disputes []DisputeWrite
	// Moves are to be added.
	Moves []payment.DisputeMove
	// Methods are stored payment methods, each with its version on disk.
	Methods       []MethodWrite
	Discrepancies []DiscrepancyWrite
	// Messages are the events for the merchant, except those of discrepancies. An event of a cancelled order is written
	// only where the cancellation was requested.
	Messages []outbox.Message
}

// AttemptWrite is the change of a locked attempt.
type AttemptWrite struct {
	Attempt payment.Attempt
	// Was is the version on disk. Changed is set if the attempt's own row is to be written.
	Was     int
	Changed bool
	// Transitions, Movements and Names are to be added; a name may be there already.
	Transitions []payment.Transition
	Movements   []payment.Movement
	Names       []string
	// Begun operations are to be inserted, Moved ones updated.
	Begun []payment.Operation
	Moved []OperationWrite
}

// OperationWrite is an operation, with its state and fence on disk.
type OperationWrite struct {
	Operation payment.Operation
	WasState  string
	WasFence  int64
}

// RefundWrite is a refund, with its version on disk; 0 for a new one.
type RefundWrite struct {
	Refund payment.Refund
	Was    int
}

// DisputeWrite is a dispute and its state on disk. Was has version 0 if the dispute is new.
type DisputeWrite struct {
	Dispute, Was payment.Dispute
}

// MethodWrite is a stored payment method, with its version on disk; 0 for a new one.
type MethodWrite struct {
	Method payment.StoredMethod
	Was    int
}

// DiscrepancyWrite is a discrepancy to open, with its event. If the discrepancy is open already, it stays and the event
// is left out.
type DiscrepancyWrite struct {
	Discrepancy payment.Discrepancy
	Opened      outbox.Message
}
