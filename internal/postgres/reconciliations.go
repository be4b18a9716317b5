package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/ledger/reconcile"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// InReconcileTx implements reconcile.Store.
func (s *Store) InReconcileTx(ctx context.Context, fn func(ctx context.Context, tx changeset.Tx) error) error {
	return s.inTx(ctx, func(ctx context.Context, tx *txn) error { return fn(ctx, tx) })
}

// RunBegin implements reconcile.Store.
func (s *Store) RunBegin(ctx context.Context, account, by string, decide func(reconcile.Last) *reconcile.Run) (run *reconcile.Run, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx *txn) error {
		if err := tx.q.ReconciliationsLock(ctx, tx, account); err != nil {
			return fmt.Errorf("wait for other runs of account %s: %w", account, err)
		}
		row, err := tx.q.ReconciliationsLast(ctx, tx, &dbsqlc.ReconciliationsLastParams{Account: account, StartedBy: by, Alive: reconcile.Alive.Seconds()})
		if err != nil {
			return fmt.Errorf("read the runs of account %s: %w", account, err)
		}
		if run = decide(lastRunFromRow(row)); run == nil {
			return nil
		}
		if err := tx.q.ReconciliationInsert(ctx, tx, runInsertParams(*run)); err != nil {
			return fmt.Errorf("insert a run of account %s: %w", account, err)
		}
		return nil
	})
	return run, err
}

// RunMove implements reconcile.Store.
func (s *Store) RunMove(ctx context.Context, r reconcile.Run) error {
	counts, err := json.Marshal(r.Count)
	if err != nil {
		return fmt.Errorf("encode the counts of run %s: %w", r.ID, err)
	}
	return s.inTx(ctx, func(ctx context.Context, tx *txn) error {
		n, err := tx.q.ReconciliationMove(ctx, tx, &dbsqlc.ReconciliationMoveParams{
			ReconciliationID: r.ID, TouchedAt: r.TouchedAt, FinishedAt: r.FinishedAt, Counts: counts, Failure: r.Failure,
		})
		if err == nil && n != 1 {
			err = pool.ErrGuard
		}
		if err != nil {
			return fmt.Errorf("write run %s: %w", r.ID, err)
		}
		return nil
	})
}

// RunOf implements reconcile.Store.
func (s *Store) RunOf(ctx context.Context, account string, span gateway.Span, begun time.Time) (id uuid.UUID, found bool, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		ids, err := s.q.ReconciliationOf(ctx, c, &dbsqlc.ReconciliationOfParams{Account: account, Begun: begun, FromAt: span.From, ToAt: span.To})
		if err != nil {
			return fmt.Errorf("look for a run over the span from %s of account %s: %w", span.From, account, err)
		}
		if found = len(ids) > 0; found {
			id = ids[0]
		}
		return nil
	})
	return id, found, err
}

// RunAges implements reconcile.Store.
func (s *Store) RunAges(ctx context.Context, by string, accounts []string) (map[string]time.Duration, error) {
	ages := map[string]time.Duration{}
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.ReconciliationAges(ctx, c, &dbsqlc.ReconciliationAgesParams{Accounts: accounts, StartedBy: by})
		if err != nil {
			return fmt.Errorf("read how old runs are: %w", err)
		}
		for _, row := range rows {
			ages[row.Account] = time.Duration(row.Age * float64(time.Second))
		}
		return nil
	})
	return ages, err
}

// Recorded implements reconcile.Store.
func (s *Store) Recorded(ctx context.Context, ids []payment.AttemptID) (map[payment.AttemptID]payment.Attempt, error) {
	there := make(map[payment.AttemptID]payment.Attempt, len(ids))
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.AttemptsRead(ctx, c, asUUIDs(ids))
		if err != nil {
			return fmt.Errorf("read %d attempts: %w", len(ids), err)
		}
		moved, err := s.q.MovementsOfAttempts(ctx, c, asUUIDs(ids))
		if err != nil {
			return fmt.Errorf("read the movements of %d attempts: %w", len(ids), err)
		}
		moves, err := s.q.DisputeMovesOfAttempts(ctx, c, asUUIDs(ids))
		if err != nil {
			return fmt.Errorf("read what the disputes of %d attempts moved: %w", len(ids), err)
		}
		movements := movementsFromRows(moved)
		for _, r := range rows {
			a := attemptFromRow(&r.PaymentAttempts, r.ReadAt, r.Siblings)
			a.Movements = movements[a.ID]
			there[a.ID] = a
		}
		for _, m := range disputeMovesFromRows(moves) {
			if a, shown := there[m.AttemptID]; shown {
				a.Moves = append(a.Moves, m)
				there[m.AttemptID] = a
			}
		}
		return nil
	})
	return there, err
}

// Unsettled implements reconcile.Store.
func (s *Store) Unsettled(ctx context.Context, account string, from, to time.Time, after payment.AttemptID, limit int) ([]payment.AttemptID, error) {
	var ids []payment.AttemptID
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.MovementsUnsettled(ctx, c, unsettledParams(account, from, to, after, limit))
		if err != nil {
			return fmt.Errorf("list attempts without a settlement: %w", err)
		}
		for _, id := range rows {
			ids = append(ids, payment.AttemptID(id))
		}
		return nil
	})
	return ids, err
}
