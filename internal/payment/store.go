package payment

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/internal/idempotency"
)

// Store keeps everything. Its errors are those of errors.go, or
// wrap ErrUnavailable when the storage is gone.
type Store interface {
	idempotency.Store
	idempotency.QuotaStore

	// KeyRead reads a key that is not expired; false if there is none.
	KeyRead(ctx context.Context, r idempotency.Request) (idempotency.Record, bool, error)

	// InTx runs fn in one transaction, READ COMMITTED. A conflict with another
	// transaction runs fn again, so fn must have no effect but through tx, and
	// must not wait for anything but tx.
	InTx(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error

	// Order reads an order with its attempts.
	Order(ctx context.Context, id OrderID) (Order, error)
	// Orders reads orders with their attempts, AttemptsByID attempts; what is not
	// there is left out.
	Orders(ctx context.Context, ids []OrderID) (map[OrderID]Order, error)
	AttemptsByID(ctx context.Context, ids []AttemptID) (map[AttemptID]Attempt, error)
	// Attempt reads an attempt.
	Attempt(ctx context.Context, id AttemptID) (Attempt, error)
	// AttemptsByRequest reads the attempts that requests made, those that made one.
	AttemptsByRequest(ctx context.Context, requests []RequestName) (map[RequestName]Attempt, error)
	// ReferencesKnown reads which of some names are those of attempts.
	ReferencesKnown(ctx context.Context, names []Reference) (map[Reference]AttemptID, error)
	// DueAccounts lists accounts that have attempts or refunds whose check is due.
	DueAccounts(ctx context.Context) ([]string, error)
	// DueAttempts lists attempts of an account whose check is due, the longest due
	// first.
	DueAttempts(ctx context.Context, account string, limit int) ([]AttemptID, error)
	// Refund reads a refund.
	Refund(ctx context.Context, id RefundID) (Refund, error)
	// RefundByRequest reads the refund that one request made.
	RefundByRequest(ctx context.Context, attempt AttemptID, user UserID, request RequestID) (Refund, error)
	// DueRefunds lists refunds of an account whose check is due, the longest due first.
	DueRefunds(ctx context.Context, account string, limit int) ([]RefundID, error)
	// NoteHeard notes when accounts were last heard from; an earlier time than the
	// one that is known changes nothing.
	NoteHeard(ctx context.Context, heard map[string]time.Time) error
	// Silent lists those of some accounts with attempts that have waited for longer
	// than after and of which nothing has been heard since they began.
	Silent(ctx context.Context, accounts []string, after time.Duration) ([]Silence, error)
	// Discrepancy reads a discrepancy.
	Discrepancy(ctx context.Context, id DiscrepancyID) (Discrepancy, error)
}

// Tx is an open transaction. Locks that it waits for are taken in the order key,
// event, order, attempt, refund, discrepancy, and within one kind by id. Only a pay
// takes its order before its key, which no other order's command can have.
type Tx interface {
	idempotency.Tx

	// Now is the database's clock at the transaction's start.
	Now() time.Time
	// Meanwhile has fn called, unless it is nil, right before the answer to the commit
	// is waited for; more than once if InTx runs its function again.
	Meanwhile(fn func())

	// OrderInsert reports false if the id or the request is taken.
	OrderInsert(ctx context.Context, o Order) (bool, error)
	// OrderByRequest reads the order that one request made.
	OrderByRequest(ctx context.Context, user UserID, request RequestID) (Order, error)
	// OrderRead reads an order with its attempts and locks nothing.
	OrderRead(ctx context.Context, id OrderID) (Order, error)
	// OrderCancel notes the wish to cancel a locked order.
	OrderCancel(ctx context.Context, id OrderID) error
	// OrderAccept notes that a locked order is paid by what one of its failed attempts holds.
	OrderAccept(ctx context.Context, id OrderID, attempt AttemptID) error
	// OrderLock locks an order and all its attempts.
	OrderLock(ctx context.Context, id OrderID) (Order, error)
	// OrdersTake reads keys and locks those of some orders that nobody else has
	// locked, in one round trip. It reads the orders' attempts and locks none.
	OrdersTake(ctx context.Context, keys []idempotency.Request, ids []OrderID) (map[idempotency.Name]idempotency.Record, map[OrderID]Order, error)

	// KeysStore stores answers under keys that are free. One that another
	// transaction has taken meanwhile makes InTx run its function again.
	KeysStore(ctx context.Context, answers []idempotency.Stored) error

	// AttemptsInsert inserts attempts, each with its id as its first reference, and keeps
	// their tokens.
	AttemptsInsert(ctx context.Context, attempts []Attempt) error
	// SealedToken reads the token of an attempt; nil if there is none, or none any more.
	SealedToken(ctx context.Context, id AttemptID) ([]byte, error)
	// AttemptLock locks one attempt.
	AttemptLock(ctx context.Context, id AttemptID) (Attempt, error)
	// AttemptLockBeside locks one attempt and then reads its order with all attempts, in
	// one round trip. What was committed by whoever had the lock before is in it.
	AttemptLockBeside(ctx context.Context, id AttemptID) (Attempt, Order, error)
	// AttemptsTake locks those of some attempts that nobody else has locked, reads
	// who has names, and locks the parked events that mention them, in one round
	// trip.
	AttemptsTake(ctx context.Context, ids []AttemptID, names []Reference) (Taken, error)
	// ReferencesFind reads who has names.
	ReferencesFind(ctx context.Context, names []Reference) (map[Reference]AttemptID, error)
	// AttemptsByReference finds attempts by any of their names and locks those
	// that nobody else has locked just now.
	AttemptsByReference(ctx context.Context, refs []Reference) ([]Found, error)
	// OrdersBeside locks the live attempts of the orders in stop that nobody else has
	// locked, and then reads the orders in ids with all their attempts, in one round
	// trip; it never waits. An attempt of each order must be locked before: nobody else
	// can add another one then. It returns the orders, and what it has locked.
	OrdersBeside(ctx context.Context, ids, stop []OrderID) (map[OrderID]Order, []Attempt, error)

	// SaveChanges writes locked attempts, their transitions, movements, references and
	// news for the merchant. A reference or a named movement that another attempt was
	// given meanwhile makes InTx run its function again.
	SaveChanges(ctx context.Context, changes []Change) error

	// RefundsLock locks all refunds of attempts that are locked.
	RefundsLock(ctx context.Context, ids []AttemptID) ([]Refund, error)
	// RefundInsert inserts a refund; RefundSave writes a locked one, whose
	// version on disk is was.
	RefundInsert(ctx context.Context, r Refund) error
	RefundSave(ctx context.Context, r Refund, was int) error

	// EventsArriving returns the digests of those events that are stored, and what
	// AttemptsByReference returns, in one round trip.
	EventsArriving(ctx context.Context, keys []EventKey, refs []Reference) (map[EventKey][32]byte, []Found, error)
	// DeliveryTake has the id of a delivery stand for a body's digest, unless it stands
	// for one, and returns that for which it stands.
	DeliveryTake(ctx context.Context, account, id string, body [32]byte) ([32]byte, error)
	// EventsInsert stores events with their verdicts. An event that another
	// transaction has stored meanwhile makes InTx run its function again.
	EventsInsert(ctx context.Context, events []StoredEvent) error
	// EventsParked locks the parked events that name any of the references and
	// that nobody else has locked. Headers and bytes are not read.
	EventsParked(ctx context.Context, refs []Reference) ([]StoredEvent, error)
	// EventsParkedOf locks the parked events that use any name of an attempt, those
	// that are on disk and others, as EventsParked.
	EventsParkedOf(ctx context.Context, a Attempt, others []string) ([]StoredEvent, error)
	// EventsDue locks parked events whose next try is due, as EventsParked.
	EventsDue(ctx context.Context, limit int) ([]StoredEvent, error)
	// EventLock locks one stored event. One that can't be read is returned with its
	// StoredEvent.Unreadable, here and by all that read parked events.
	EventLock(ctx context.Context, id EventID) (StoredEvent, error)
	// EventsTransactions reads what the events of attempts told of their transactions,
	// in the order in which they came; it locks nothing.
	EventsTransactions(ctx context.Context, ids []AttemptID) (map[AttemptID][]Told, error)
	// MovementsRead reads the movements of attempts that are locked, in the order of their
	// numbers, and whose some named ones are. It locks nothing.
	MovementsRead(ctx context.Context, ids []AttemptID, names []MovementName) (map[AttemptID][]Movement, map[MovementName]AttemptID, error)
	// EventsSettle writes verdict, attempt, tries and next try of locked events.
	EventsSettle(ctx context.Context, events []StoredEvent) error

	// DiscrepanciesOpen opens discrepancies; one that is there already stays as
	// it is.
	DiscrepanciesOpen(ctx context.Context, ds []Discrepancy) error
	// DiscrepancyLock locks one discrepancy; DiscrepancyResolve writes its Resolved,
	// DiscrepancyPropose its Proposed.
	DiscrepancyLock(ctx context.Context, id DiscrepancyID) (Discrepancy, error)
	DiscrepancyPropose(ctx context.Context, d Discrepancy) error
	DiscrepancyResolve(ctx context.Context, d Discrepancy) error
}

// RequestName is what makes a pay the same pay, for ever.
type RequestName struct {
	Order   OrderID
	User    UserID
	Request RequestID
}

// Name is the name of the request that made the attempt.
func (a Attempt) Name() RequestName { return RequestName{a.OrderID, a.UserID, a.RequestID} }

// Reference is a name by which an account's provider may call an attempt.
type Reference struct{ Account, Name string }

// EventKey is what makes an event the same event.
type EventKey struct{ Account, ID string }

// Found is an attempt found by a reference. Attempt is nil if another
// transaction holds its lock.
type Found struct {
	Reference Reference
	ID        AttemptID
	Attempt   *Attempt
}

// Taken is what AttemptsTake found.
type Taken struct {
	Attempts []Attempt
	Owners   map[Reference]AttemptID
	Parked   []StoredEvent
}

// Change is what became of a locked attempt.
type Change struct {
	Attempt Attempt
	// Was is the version on disk.
	Was         int
	Transitions []Transition
	// Names are names of the attempt that may be new.
	Names []string
	// Holds says that what the attempt holds beside its payment may have changed: Foreign,
	// ForeignReturned or HoldToldAt.
	Holds bool
	// EraseToken says that the attempt's token is not needed any more.
	EraseToken bool
	// Messages are the news for the merchant.
	Messages []Message
	// Movements are those that are new, in the order of their numbers.
	Movements []Movement

	// had is the provider's id on disk, which is a name of the attempt already.
	had string
	// before is the attempt as it was read.
	before Attempt
	// moved is the number of the last movement on disk.
	moved int
}
