package support

import (
	"context"

	"github.com/paylatch/paylatch/internal/payment"
)

// ErasureFound is the stored data of a user.
type ErasureFound struct {
	// Waiting counts the orders that have an attempt that is not over.
	Orders, Waiting int64
	// Disputes are the open disputes of the user's orders, up to the requested number: each with its provider's id, its account
	// and its order.
	Disputes []string
}

// ErasureStep is the result of one batch.
type ErasureStep struct {
	// Last is the cursor for the next batch, and Seen how many rows this one had: fewer than the limit in the last.
	Last payment.OrderID `json:"last"`
	Seen int             `json:"seen"`
	// Orders were given to the pseudonym; Events lost the provider's data.
	Orders int `json:"orders"`
	Events int `json:"events"`
	// Waiting are keys of commands that are under way.
	Waiting int `json:"waiting"`
}

// ErasureStore erases. All but Count and AuditInsert need the role that owns the tables, and may be repeated.
type ErasureStore interface {
	// AuditMayBeChanged names the role of the sessions, and reports whether it owns the tables.
	AuditMayBeChanged(ctx context.Context) (role string, owns bool, err error)
	AuditInsert(ctx context.Context, e AuditEntry) error
	// Count names disputes at most of the open ones.
	Count(ctx context.Context, user payment.UserID, disputes int) (ErasureFound, error)
	// Begin returns the pseudonym of the customer with one of the marks: the pseudonym of an earlier erasure, or fresh. It
	// writes the entry of begun to the audit log in the same transaction, as End does with its entry.
	Begin(ctx context.Context, marks [][]byte, fresh string, begun func(pseudonym string) AuditEntry) (pseudonym string, err error)
	// Orders gives a batch of the user's orders to the pseudonym.
	Orders(ctx context.Context, user payment.UserID, pseudonym string, behind payment.OrderID, limit int) (ErasureStep, error)
	// Details erases the data that providers sent about a batch of the pseudonym's orders, and the user's name in the log of
	// requests. If everything is set, it also erases the texts that the shop wrote for the orders.
	Details(ctx context.Context, user payment.UserID, pseudonym string, everything bool, behind payment.OrderID, limit int) (ErasureStep, error)
	// Keys deletes a batch of the user's idempotency keys.
	Keys(ctx context.Context, user payment.UserID, limit int) (ErasureStep, error)
	End(ctx context.Context, pseudonym string, done AuditEntry) error
}
