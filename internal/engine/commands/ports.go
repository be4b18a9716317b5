package commands

import (
	"context"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
)

// Tx is an open transaction of a command.
type Tx interface {
	runner.Tx
	ResolutionTx

	// OrderInsert reports false if the id or the request is taken.
	OrderInsert(ctx context.Context, o payment.Order) (bool, error)
	// OrderByRequest reads the order that one request made.
	OrderByRequest(ctx context.Context, user payment.UserID, request payment.RequestID) (payment.Order, error)
	// OrderRead reads an order with its attempts and locks nothing.
	OrderRead(ctx context.Context, id payment.OrderID) (payment.Order, error)
	// OrderCancel writes the cancel request of a locked order, and the event where that cancels the
	// order at once.
	OrderCancel(ctx context.Context, id payment.OrderID, cancelled outbox.Message) error
	// OrderAmend writes other terms of a locked order, with the entry in the activity log.
	OrderAmend(ctx context.Context, a Amendment) error
	// OrderDetails is Store.OrderDetails within the transaction.
	OrderDetails(ctx context.Context, id payment.OrderID) ([]byte, int, error)
	// OrdersTake reads keys and locks the orders that are not locked, in one round trip. It reads the orders' attempts
	// and locks no attempt.
	OrdersTake(ctx context.Context, keys []idempotency.Request, ids []payment.OrderID) (map[idempotency.Name]idempotency.Record, map[payment.OrderID]payment.Order, error)
	// KeysStore stores responses under free keys. If another transaction has taken a key meanwhile, the transaction runs
	// again.
	KeysStore(ctx context.Context, responses []idempotency.Stored) error
	// AttemptsInsert inserts attempts with their operations, each with its id as its first
	// reference.
	AttemptsInsert(ctx context.Context, attempts []payment.Attempt) error
	// DiscrepancyLock locks one discrepancy. DiscrepancyPropose writes its proposal. DiscrepancyResolve writes its
	// resolution and the event.
	DiscrepancyLock(ctx context.Context, id payment.DiscrepancyID) (payment.Discrepancy, error)
	DiscrepancyPropose(ctx context.Context, d payment.Discrepancy) error
	DiscrepancyResolve(ctx context.Context, d payment.Discrepancy, resolved outbox.Message) error
}

// Store keeps the objects of the commands. Its errors are those of package payment, or wrap payment.ErrUnavailable when
// the storage is gone.
type Store interface {
	idempotency.Store
	idempotency.QuotaStore

	// InCommandTx runs fn in one transaction, as changeset.InTx.
	InCommandTx(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error
	// KeyRead reads an unexpired key; false if it does not exist.
	KeyRead(ctx context.Context, r idempotency.Request) (idempotency.Record, bool, error)
	// Order reads an order with its attempts. Orders reads several orders and leaves out missing ones.
	Order(ctx context.Context, id payment.OrderID) (payment.Order, error)
	Orders(ctx context.Context, ids []payment.OrderID) (map[payment.OrderID]payment.Order, error)
	// OrderDetails reads the lines and the customer of an order, encrypted, with the revision of the order that has them; nil
	// without.
	OrderDetails(ctx context.Context, id payment.OrderID) ([]byte, int, error)
	// Attempt reads an attempt. AttemptsByID reads several attempts and leaves out missing ones.
	Attempt(ctx context.Context, id payment.AttemptID) (payment.Attempt, error)
	AttemptsByID(ctx context.Context, ids []payment.AttemptID) (map[payment.AttemptID]payment.Attempt, error)
	// AttemptsByRequest reads the attempts that requests made, each with its first charge. Requests without an attempt
	// are left out.
	AttemptsByRequest(ctx context.Context, requests []payment.RequestName) (map[payment.RequestName]payment.Attempt, error)
	// MethodRemoved reports whether the provider has reported that a stored payment method was removed.
	MethodRemoved(ctx context.Context, name payment.MethodName) (bool, error)
	// Refund reads a refund. RefundByRequest reads the refund that a request made.
	Refund(ctx context.Context, id payment.RefundID) (payment.Refund, error)
	RefundByRequest(ctx context.Context, attempt payment.AttemptID, user payment.UserID, request payment.RequestID) (payment.Refund, error)
	// Dispute reads a dispute, Discrepancy a discrepancy.
	Dispute(ctx context.Context, id payment.DisputeID) (payment.Dispute, error)
	Discrepancy(ctx context.Context, id payment.DiscrepancyID) (payment.Discrepancy, error)
}
