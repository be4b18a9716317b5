package intake

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
)

// Tx is an open transaction that stores events.
type Tx interface {
	changeset.Tx

	// Meanwhile sets a function that is called right before the transaction waits for the response to its commit. A nil
	// fn is not called. It may be called more than once, since the transaction may run again.
	Meanwhile(fn func())
	// EventsArriving returns the digests of the events that are stored, and the result of AttemptsByReference, in one
	// round trip.
	EventsArriving(ctx context.Context, keys []payment.EventKey, refs []payment.Reference) (map[payment.EventKey][32]byte, []Found, error)
	// AttemptsByReference finds attempts by any of their names and locks the attempts that are not locked.
	AttemptsByReference(ctx context.Context, refs []payment.Reference) ([]Found, error)
	// ReferencesFind reads the attempts that have some names.
	ReferencesFind(ctx context.Context, names []payment.Reference) (map[payment.Reference]payment.AttemptID, error)
	// DeliveryTake binds the id of a delivery to a body's digest, unless it is bound already, and returns the digest
	// that it is bound to.
	DeliveryTake(ctx context.Context, account, id string, body [32]byte) ([32]byte, error)
	// EventsInsert stores events with their verdicts. An event that another transaction has
	// stored meanwhile makes the transaction run again.
	EventsInsert(ctx context.Context, events []payment.StoredEvent) error
	// EventsParked locks the parked events that use any of the references and are not
	// locked. Headers and bytes are not read.
	EventsParked(ctx context.Context, refs []payment.Reference) ([]payment.StoredEvent, error)
	// EventsDue locks parked events that are due for a try, as EventsParked.
	EventsDue(ctx context.Context, limit int) ([]payment.StoredEvent, error)
	// EventLock locks one stored event. An event that can't be read is returned with StoredEvent.Unreadable, here and by
	// all methods that read parked events.
	EventLock(ctx context.Context, id payment.EventID) (payment.StoredEvent, error)
	// EventReread writes the content of a locked event, once it could be read.
	EventReread(ctx context.Context, e payment.StoredEvent) error
}

// Store keeps events.
type Store interface {
	// InEventTx runs fn in one transaction, as changeset.InTx.
	InEventTx(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error
	// ReferencesKnown reads the attempts that have some names.
	ReferencesKnown(ctx context.Context, names []payment.Reference) (map[payment.Reference]payment.AttemptID, error)
	// Attempt reads an attempt, Order an order with its attempts.
	Attempt(ctx context.Context, id payment.AttemptID) (payment.Attempt, error)
	Order(ctx context.Context, id payment.OrderID) (payment.Order, error)
	// EventsUnreadable lists unreadable events that a version of the program has not read
	// again, the oldest first. EventReadBy notes that it has, unless the event is readable by now.
	EventsUnreadable(ctx context.Context, version string, limit int) ([]payment.EventID, error)
	EventReadBy(ctx context.Context, id payment.EventID, version string) error
	// LastWebhooksSave stores when accounts last had a webhook. A time before the stored time changes nothing.
	LastWebhooksSave(ctx context.Context, last map[string]time.Time) error
	// StaleAccounts lists the accounts with attempts that have waited for longer than after without a webhook since they
	// began.
	StaleAccounts(ctx context.Context, accounts []string, after time.Duration) ([]StaleAccount, error)
	// ForeignEvents counts the foreign events of the last day by account.
	ForeignEvents(ctx context.Context) (map[string]int64, error)
}

// Found is an attempt found by a reference. Attempt is nil if another transaction has its
// lock.
type Found struct {
	Reference payment.Reference
	ID        payment.AttemptID
	Attempt   *payment.Attempt
}
