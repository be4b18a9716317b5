package postgres

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/watermark"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
)

// besideReads read the operations and the movements of attempts, after the locks of the attempts.
type besideReads struct {
	tx         *txn
	named      *dbsqlc.OperationsNamedParams
	ids        []uuid.UUID
	orders     []string
	operations map[payment.AttemptID][]payment.Operation
	movements  map[payment.AttemptID][]payment.Movement
}

func (t *txn) besideIDs(ids []uuid.UUID) *besideReads { return &besideReads{tx: t, ids: ids} }

func (b *besideReads) reads(ctx context.Context) []pipeline.Query {
	return []pipeline.Query{func(db pipeline.DB) error {
		rows, err := b.readOperations(ctx, db)
		b.operations = operationsFromRows(rows)
		return err
	}, func(db pipeline.DB) error {
		rows, err := b.readMovements(ctx, db)
		b.movements = movementsFromRows(rows)
		return err
	}}
}

func (b *besideReads) readOperations(ctx context.Context, db pipeline.DB) ([]*dbsqlc.Operations, error) {
	switch {
	case b.named != nil:
		return b.tx.q.OperationsNamed(ctx, db, b.named)
	case b.orders != nil:
		return b.tx.q.OperationsOfOrders(ctx, db, b.orders)
	}
	return b.tx.q.OperationsOfAttempts(ctx, db, b.ids)
}

func (b *besideReads) readMovements(ctx context.Context, db pipeline.DB) ([]*dbsqlc.MoneyMovements, error) {
	switch {
	case b.named != nil:
		return b.tx.q.MovementsNamed(ctx, db, (*dbsqlc.MovementsNamedParams)(b.named))
	case b.orders != nil:
		return b.tx.q.MovementsOfOrders(ctx, db, b.orders)
	}
	return b.tx.q.MovementsOfAttempts(ctx, db, b.ids)
}

// fill fills in the rows that were read for an attempt.
func (b *besideReads) fill(a *payment.Attempt) {
	a.Operations, a.Movements = b.operations[a.ID], b.movements[a.ID]
}

// begin inserts new operations.
func (t *txn) begin(ctx context.Context, writes []changeset.AttemptWrite) error {
	p := operationsInsertParams(writes)
	if len(p.OrderIds) == 0 {
		return nil
	}
	if err := t.q.OperationsInsert(ctx, t.Deferred(), p); err != nil {
		return fmt.Errorf("insert %d operations: %w", len(p.OrderIds), err)
	}
	t.witness(watermark.Commit{Kind: watermark.CommitBegun, ID: p.AttemptIds[0], Operation: p.Kinds[0], Number: p.Numbers[0], At: p.CreatedAts[0]})
	return t.keepRequests(ctx, writes)
}

// moveOperations writes operations that have changed.
func (t *txn) moveOperations(ctx context.Context, writes []changeset.AttemptWrite) error {
	p := operationsMoveParams(writes)
	if len(p.AttemptIds) == 0 {
		return nil
	}
	if err := t.q.OperationsMove(ctx, t.Deferred(), p); err != nil {
		return fmt.Errorf("write %d operations: %w", len(p.AttemptIds), err)
	}
	for i, at := range p.FirstSentAts {
		if at.Equal(t.Now()) {
			t.witness(watermark.Commit{Kind: watermark.CommitSent, ID: p.AttemptIds[i], Operation: p.Kinds[i], Number: p.Numbers[i], Fence: p.Fences[i], At: at})
		}
	}
	return nil
}

// DueAccounts implements runner.Store.
func (s *Store) DueAccounts(ctx context.Context) (accounts []string, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		accounts, err = s.q.AccountsDue(ctx, c)
		return err
	})
	return accounts, err
}

// trailingMost bounds how many trailing operations one look at the schedule closes.
const trailingMost = 1024

// DueOperations implements runner.Store.
func (s *Store) DueOperations(ctx context.Context, account string, limit int) ([]payment.OperationName, error) {
	var due []payment.OperationName
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		for {
			closed, err := s.q.OperationsTrailing(ctx, c, &dbsqlc.OperationsTrailingParams{Account: account, Most: trailingMost})
			if err != nil {
				return fmt.Errorf("close what trails: %w", err)
			}
			if closed < trailingMost {
				break
			}
		}
		rows, err := s.q.OperationsDue(ctx, c, &dbsqlc.OperationsDueParams{Account: account, Most: int32(limit)}) //nolint:gosec // a batch size
		if err != nil {
			return fmt.Errorf("read the schedule: %w", err)
		}
		for _, r := range rows {
			due = append(due, payment.OperationName{AttemptID: payment.AttemptID(r.AttemptID), Kind: payment.OperationKind(r.Kind), Number: int(r.Number)})
		}
		return nil
	})
	return due, err
}
