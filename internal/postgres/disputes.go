package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// Dispute implements commands.Store.
func (s *Store) Dispute(ctx context.Context, id payment.DisputeID) (payment.Dispute, error) {
	var d payment.Dispute
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.DisputeRead(ctx, c, uuid.UUID(id))
		if err != nil {
			return fmt.Errorf("read dispute %s: %w", id, pool.Missing(err, payment.ErrDisputeNotFound))
		}
		d = disputeFromRow(row)
		return nil
	})
	return d, err
}

// Disputes implements runner.Store.
func (s *Store) Disputes(ctx context.Context, id payment.AttemptID) ([]payment.Dispute, error) {
	var all []payment.Dispute
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.DisputesOfAttempts(ctx, c, []uuid.UUID{uuid.UUID(id)})
		if err != nil {
			return fmt.Errorf("read the disputes of attempt %s: %w", id, err)
		}
		all = disputesFromRows(rows)
		return nil
	})
	return all, err
}

// addShown reads what attempts have beside their row when they are shown: their disputes, and the changes of their stored payment
// methods.
func addShown(ctx context.Context, q *dbsqlc.Queries, db dbsqlc.DBTX, attempts []payment.Attempt) error {
	if err := addMethods(ctx, q, db, attempts); err != nil {
		return err
	}
	return addDisputes(ctx, q, db, attempts)
}

// addDisputes reads the disputes of the attempts that have disputes and were read without them.
func addDisputes(ctx context.Context, q *dbsqlc.Queries, db dbsqlc.DBTX, attempts []payment.Attempt) error {
	var ids []payment.AttemptID
	for i := range attempts {
		if attempts[i].Disputes == nil {
			ids = append(ids, attempts[i].ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := q.DisputesOfAttempts(ctx, db, asUUIDs(ids))
	if err != nil {
		return fmt.Errorf("read the disputes of %d attempts: %w", len(ids), err)
	}
	for _, d := range disputesFromRows(rows) {
		i := slices.IndexFunc(attempts, func(a payment.Attempt) bool { return a.ID == d.AttemptID })
		attempts[i].Disputes = append(attempts[i].Disputes, d)
	}
	return nil
}

// DisputesNamed implements changeset.Tx.
func (t *txn) DisputesNamed(ctx context.Context, names []payment.DisputeName) ([]payment.Dispute, []payment.DisputeMove, error) {
	rows, err := t.q.DisputesNamed(ctx, t, disputeNamesParams(names))
	if err != nil {
		return nil, nil, fmt.Errorf("read %d disputes: %w", len(names), err)
	}
	moves, err := t.q.DisputeMovesNamed(ctx, t, disputeMoveNamesParams(names))
	if err != nil {
		return nil, nil, fmt.Errorf("read the moves of %d disputes: %w", len(names), err)
	}
	return disputesFromRows(rows), disputeMovesFromRows(moves), nil
}

func (t *txn) saveMoves(ctx context.Context, moves []payment.DisputeMove) error {
	for _, m := range moves {
		if err := t.q.DisputeMoveInsert(ctx, t.DeferredRows(1, pool.ErrGuard), disputeMoveInsertParams(m)); err != nil {
			return fmt.Errorf("save what dispute %s moved: %w", m.Dispute, err)
		}
	}
	return nil
}

func (t *txn) saveDisputes(ctx context.Context, writes []changeset.DisputeWrite) error {
	for _, w := range writes {
		var err error
		if w.Was.Version == 0 {
			err = t.q.DisputeInsert(ctx, t.DeferredRows(1, pool.ErrGuard), disputeInsertParams(w.Dispute))
		} else {
			_, err = t.q.DisputeAdvance(ctx, t.DeferredRows(1, pool.ErrGuard), disputeAdvanceParams(w.Dispute, w.Was.Version))
		}
		if err != nil {
			return fmt.Errorf("save dispute %s: %w", w.Dispute.ID, err)
		}
	}
	return nil
}
