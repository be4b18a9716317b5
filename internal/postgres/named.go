package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
)

// AttemptsByReference implements intake.Tx.
func (t *txn) AttemptsByReference(ctx context.Context, refs []payment.Reference) ([]intake.Found, error) {
	named := t.named(ctx, refs)
	if err := t.Pipeline(ctx, named.reads...); err != nil {
		return nil, fmt.Errorf("lock attempts by their names: %w", err)
	}
	return named.found(ctx, t)
}

// namedReads lock attempts by their names. A text that looks like an id of ours is first looked for as an id: that is
// cheaper than the table of names. The table is read only for ids without a result, since only the table distinguishes a
// locked attempt from a missing one.
type namedReads struct {
	reads  []pipeline.Query
	own    map[payment.Reference]uuid.UUID
	hits   []*dbsqlc.ReferencesFindRow
	locked map[uuid.UUID]*payment.Attempt
	beside *besideReads
}

func (t *txn) named(ctx context.Context, refs []payment.Reference) *namedReads {
	n := &namedReads{own: make(map[payment.Reference]uuid.UUID), locked: make(map[uuid.UUID]*payment.Attempt)}
	lock := &dbsqlc.AttemptsLockNamedParams{}
	others := make([]payment.Reference, 0, len(refs))
	for _, r := range refs {
		if id, ok := payment.OwnAttemptID(r.Name); ok {
			n.own[r] = uuid.UUID(id)
			lock.AttemptIds = append(lock.AttemptIds, uuid.UUID(id))
			continue
		}
		others = append(others, r)
		lock.Accounts, lock.Refs = append(lock.Accounts, r.Account), append(lock.Refs, r.Name)
	}
	n.beside = t.besideIDs(lock.AttemptIds)
	if len(others) > 0 {
		n.beside.named = (*dbsqlc.OperationsNamedParams)(lock)
	}
	n.reads = append(n.lockReads(ctx, t, lock, others), n.beside.reads(ctx)...)
	return n
}

func (n *namedReads) lockReads(ctx context.Context, t *txn, lock *dbsqlc.AttemptsLockNamedParams, others []payment.Reference) []pipeline.Query {
	if len(others) == 0 {
		return []pipeline.Query{func(db pipeline.DB) error {
			rows, err := t.q.AttemptsLockFree(ctx, db, lock.AttemptIds)
			for _, r := range rows {
				n.keep(&r.PaymentAttempts, r.ReadAt, r.Siblings)
			}
			return err
		}}
	}
	return []pipeline.Query{t.find(ctx, others, &n.hits), func(db pipeline.DB) error {
		rows, err := t.q.AttemptsLockNamed(ctx, db, lock)
		for _, r := range rows {
			n.keep(&r.PaymentAttempts, r.ReadAt, r.Siblings)
		}
		return err
	}}
}

func (n *namedReads) keep(row *dbsqlc.PaymentAttempts, readAt time.Time, siblings bool) {
	a := attemptFromRow(row, readAt, siblings)
	n.locked[row.AttemptID] = &a
}

// found returns the names that an attempt has, each with its attempt if that could be
// locked.
func (n *namedReads) found(ctx context.Context, t *txn) ([]intake.Found, error) {
	for _, a := range n.locked {
		n.beside.fill(a)
	}
	found := make([]intake.Found, 0, len(n.own)+len(n.hits))
	var missed []payment.Reference
	for ref, id := range n.own {
		if a := n.locked[id]; a != nil && a.Account == ref.Account {
			found = append(found, intake.Found{Reference: ref, ID: a.ID, Attempt: a})
		} else {
			missed = append(missed, ref)
		}
	}
	hits := n.hits
	if len(missed) > 0 {
		var more []*dbsqlc.ReferencesFindRow
		if err := t.find(ctx, missed, &more)(t); err != nil {
			return nil, fmt.Errorf("find names: %w", err)
		}
		hits = append(hits, more...)
	}
	for _, h := range hits {
		found = append(found, intake.Found{
			Reference: payment.Reference{Account: h.Account, Name: h.Reference}, ID: payment.AttemptID(h.AttemptID), Attempt: n.locked[h.AttemptID],
		})
	}
	return found, nil
}

// find reads the attempts with some names.
func (t *txn) find(ctx context.Context, names []payment.Reference, hits *[]*dbsqlc.ReferencesFindRow) func(db pipeline.DB) error {
	p := &dbsqlc.ReferencesFindParams{}
	for _, r := range names {
		p.Accounts, p.Refs = append(p.Accounts, r.Account), append(p.Refs, r.Name)
	}
	return func(db pipeline.DB) (err error) {
		*hits, err = t.q.ReferencesFind(ctx, db, p)
		return err
	}
}
