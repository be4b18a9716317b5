package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
)

// AttemptsByReference implements payment.Tx.
func (t *txn) AttemptsByReference(ctx context.Context, refs []payment.Reference) ([]payment.Found, error) {
	named := t.named(ctx, refs)
	if err := t.Pipeline(ctx, named.reads...); err != nil {
		return nil, fmt.Errorf("lock attempts by their names: %w", err)
	}
	return named.found(ctx, t)
}

// namedReads lock attempts by their names. What looks like an id of ours is
// looked for as one, which is cheaper than by the table of names; the table is
// only asked for the ids that led to nothing, since it alone tells an attempt
// that is locked from one that is not known.
type namedReads struct {
	reads  []pipeline.Query
	own    map[payment.Reference]uuid.UUID
	hits   []*dbsqlc.ReferencesFindRow
	locked map[uuid.UUID]*payment.Attempt
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
	if len(others) == 0 {
		n.reads = []pipeline.Query{func(db pipeline.DB) error {
			rows, err := t.q.AttemptsLockFree(ctx, db, lock.AttemptIds)
			for _, r := range rows {
				n.keep(&r.PaymentAttempts, r.ReadAt, r.Siblings)
			}
			return err
		}}
		return n
	}
	n.reads = []pipeline.Query{t.find(ctx, others, &n.hits), func(db pipeline.DB) error {
		rows, err := t.q.AttemptsLockNamed(ctx, db, lock)
		for _, r := range rows {
			n.keep(&r.PaymentAttempts, r.ReadAt, r.Siblings)
		}
		return err
	}}
	return n
}

func (n *namedReads) keep(row *dbsqlc.PaymentAttempts, readAt time.Time, siblings bool) {
	a := attemptFromRow(row, readAt, siblings)
	n.locked[row.AttemptID] = &a
}

// found are the names that somebody has, each with its attempt if that could be
// locked.
func (n *namedReads) found(ctx context.Context, t *txn) ([]payment.Found, error) {
	found := make([]payment.Found, 0, len(n.own)+len(n.hits))
	var missed []payment.Reference
	for ref, id := range n.own {
		if a := n.locked[id]; a != nil && a.Account == ref.Account {
			found = append(found, payment.Found{Reference: ref, ID: a.ID, Attempt: a})
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
		found = append(found, payment.Found{
			Reference: payment.Reference{Account: h.Account, Name: h.Reference}, ID: payment.AttemptID(h.AttemptID), Attempt: n.locked[h.AttemptID],
		})
	}
	return found, nil
}

// find looks for who has names.
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

func owners(hits []*dbsqlc.ReferencesFindRow) map[payment.Reference]payment.AttemptID {
	owners := make(map[payment.Reference]payment.AttemptID, len(hits))
	for _, h := range hits {
		owners[payment.Reference{Account: h.Account, Name: h.Reference}] = payment.AttemptID(h.AttemptID)
	}
	return owners
}
