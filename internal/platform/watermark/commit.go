package watermark

import (
	"fmt"
	"time"

	"github.com/google/uuid"
)

// CommitKind is the kind of row by which a commit is found again.
type CommitKind string

// The kinds of rows. The rows of the first five are never deleted. Retention deletes entries of the log after a [Life] at the earliest. It
// may delete a batch of events sooner, so a batch that is older than an hour counts as found.
const (
	// CommitVersion is a version of an attempt.
	CommitVersion CommitKind = "version"
	// CommitBegun is a new operation.
	CommitBegun CommitKind = "begun"
	// CommitSent is the first permit to send an operation.
	CommitSent CommitKind = "sent"
	// CommitEvent is a webhook.
	CommitEvent CommitKind = "event"
	// CommitOrder is a new order.
	CommitOrder CommitKind = "order"
	// CommitAmended is the entry of the log of activity that an amendment of an order makes.
	CommitAmended CommitKind = "amended"
	// CommitCancelled is an order whose cancellation was requested.
	CommitCancelled CommitKind = "cancelled"
	// CommitAccepted is an order that late money pays.
	CommitAccepted CommitKind = "accepted"
	// CommitNumbered is a batch of events that has its positions in the feed.
	CommitNumbered CommitKind = "numbered"
)

// Commit names a row that a commit wrote, by values that no other commit gives it. If a database has the row, it has that
// commit, and every commit that was acknowledged before that one was sent: a log loses its end only.
type Commit struct {
	Kind CommitKind `json:"kind"`
	// Order is the id of the order; empty for an operation, an event and a batch.
	Order string `json:"order,omitempty"`
	// ID is the id of the attempt, of the event or of the entry.
	ID uuid.UUID `json:"id"`
	// Operation is the kind of the operation.
	Operation string `json:"operation,omitempty"`
	// Number is the version, or the number of the operation.
	Number int32 `json:"number,omitempty"`
	// Fence is the operation's fencing token: a permit that was given back has left only that.
	Fence int64 `json:"fence,omitempty"`
	// Batch is the number of a batch of events, and Position that of its last event.
	Batch    int64 `json:"batch,omitempty"`
	Position int64 `json:"position,omitempty"`
	// At is when the transaction began, by the database's clock.
	At time.Time `json:"at"`
}

// String describes the commit for the log.
func (c Commit) String() string {
	switch c.Kind {
	case CommitVersion:
		return fmt.Sprintf("version %d of attempt %s", c.Number, c.ID)
	case CommitBegun, CommitSent:
		return fmt.Sprintf("%s-%d of attempt %s (%s)", c.Operation, c.Number, c.ID, c.Kind)
	case CommitEvent:
		return fmt.Sprintf("webhook %s", c.ID)
	case CommitOrder:
		return "order " + c.Order
	case CommitAmended, CommitCancelled, CommitAccepted:
		return fmt.Sprintf("order %s (%s)", c.Order, c.Kind)
	case CommitNumbered:
		return fmt.Sprintf("the positions of events up to %d", c.Position)
	}
	return string(c.Kind)
}
