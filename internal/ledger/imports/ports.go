package imports

import (
	"context"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
)

// Tx is the transaction of a batch.
type Tx interface {
	changeset.Tx

	// OrdersMake inserts the orders whose ids and requests are free. It then locks all of the orders that exist, with their
	// attempts, and waits for locks of others. The returned attempts are without operations and movements.
	OrdersMake(ctx context.Context, orders []payment.Order) (map[payment.OrderID]payment.Order, error)
	// AttemptsImport inserts final attempts with their transitions, movements and names.
	AttemptsImport(ctx context.Context, attempts []changeset.AttemptWrite) error
}

// Store keeps imported payments. Its errors wrap payment.ErrUnavailable when the storage is gone.
type Store interface {
	// InImportTx runs fn in one transaction, as changeset.InTx.
	InImportTx(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error
	// Orders reads orders with their attempts; missing orders are left out.
	Orders(ctx context.Context, ids []payment.OrderID) (map[payment.OrderID]payment.Order, error)
	// ReferencesKnown reads which attempts have some names.
	ReferencesKnown(ctx context.Context, names []payment.Reference) (map[payment.Reference]payment.AttemptID, error)
	// Trial begins a dry run.
	Trial(ctx context.Context) (Trial, error)
}
