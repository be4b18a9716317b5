package worklist

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

// Store keeps the worklist. Its errors are those of package payment.
type Store interface {
	// List reads a page in the order of the query.
	List(ctx context.Context, q Query) ([]Entry, error)
	// Entry reads one, with its newest comments. It returns payment.ErrDiscrepancyNotFound.
	Entry(ctx context.Context, id payment.DiscrepancyID, comments int) (Entry, error)
	// Count counts the open discrepancies.
	Count(ctx context.Context) (int64, error)
	// Assign locks a discrepancy and calls decide with it. It writes the assignee and the audit entry that decide
	// returns, or returns the error of decide. It may call decide twice. It returns payment.ErrDiscrepancyNotFound.
	Assign(ctx context.Context, id payment.DiscrepancyID, decide func(d payment.Discrepancy) (to string, done support.AuditEntry, err error)) error
	// Comment adds a comment, with the entry of the audit log in the same transaction; the discrepancy's order and attempt are added to
	// that. Where the author has commented on it under the same key it writes nothing and returns that comment, else nil. It returns
	// payment.ErrDiscrepancyNotFound.
	Comment(ctx context.Context, c Comment, done support.AuditEntry) (first *Comment, err error)
}

// Audit writes the audit log; *support.Service in the program.
type Audit interface {
	Audited(ctx context.Context, e support.AuditEntry, err error) error
	DoneIn(ctx context.Context, tx changeset.Tx, e support.AuditEntry) error
}

// Payments resolves; *commands.Commands in the program.
type Payments interface {
	Resolve(ctx context.Context, actor authz.Actor, cmd commands.Resolve) (payment.Discrepancy, error)
}

// Turns leases turns, and reads the evidence that decides whether a discrepancy is settled. Its errors are those of
// package payment.
type Turns interface {
	// TakeTurn takes the next turn for a time. It returns lease.ErrHeld before the turn begins, and while no discrepancy
	// is open.
	TakeTurn(ctx context.Context, life time.Duration) (Turn, error)
	// Next reads the next open discrepancies behind a turn's place, oldest first.
	Next(ctx context.Context, t Turn, limit int) ([]Candidate, error)
	// EndTurn moves the place to the turn's, and has the next turn begin after a rest; nothing, if another process has that by now.
	EndTurn(ctx context.Context, t Turn, rest time.Duration) error
	// LockEvent locks a stored event in a transaction of InTx. EvidenceIn reads, in such a transaction, the evidence about one
	// discrepancy.
	LockEvent(ctx context.Context, tx changeset.Tx, key payment.EventKey) error
	EvidenceIn(ctx context.Context, tx changeset.Tx, id payment.DiscrepancyID) (payment.DiscrepancyEvidence, error)
}

// InTx runs fn in one transaction of the same storage, as changeset.InTx.
type InTx = func(ctx context.Context, fn func(ctx context.Context, tx commands.Tx) error) error

// Turn is the right to check a portion of the open discrepancies.
type Turn struct {
	Fence    int64
	BehindAt time.Time
	BehindID uuid.UUID
}

// Candidate is an open discrepancy with its evidence as read without a lock.
type Candidate struct {
	payment.Discrepancy

	Evidence payment.DiscrepancyEvidence
}
