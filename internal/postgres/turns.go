package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/backoffice/worklist"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// TakeTurn implements worklist.Turns.
func (s *WorklistStore) TakeTurn(ctx context.Context, life time.Duration) (t worklist.Turn, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.WorklistTurnTake(ctx, c, life.Seconds())
		if err != nil {
			return fmt.Errorf("take a turn: %w", pool.Missing(err, lease.ErrHeld))
		}
		t = worklist.Turn{Fence: row.Fence, BehindAt: row.BehindAt, BehindID: row.BehindID}
		return nil
	})
	return t, err
}

// Next implements worklist.Turns.
func (s *WorklistStore) Next(ctx context.Context, t worklist.Turn, limit int) (list []worklist.Candidate, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.WorklistNext(ctx, c, &dbsqlc.WorklistNextParams{BehindAt: t.BehindAt, BehindID: t.BehindID, Most: int32(limit)}) //nolint:gosec // a portion
		if err != nil {
			return fmt.Errorf("read what is open: %w", err)
		}
		ids := make([]uuid.UUID, len(rows))
		for i, row := range rows {
			ids[i] = row.DiscrepancyID
		}
		evidence, err := s.evidence(ctx, c, ids...)
		list = nil
		for _, row := range rows {
			list = append(list, worklist.Candidate{Discrepancy: discrepancyFromRow(row), Evidence: evidence[row.DiscrepancyID]})
		}
		return err
	})
	return list, err
}

// EndTurn implements worklist.Turns.
func (s *WorklistStore) EndTurn(ctx context.Context, t worklist.Turn, rest time.Duration) error {
	return s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		_, err := s.q.WorklistTurnEnd(ctx, c, &dbsqlc.WorklistTurnEndParams{Fence: t.Fence, BehindAt: t.BehindAt, BehindID: t.BehindID, Seconds: rest.Seconds()})
		if err != nil {
			return fmt.Errorf("end a turn: %w", err)
		}
		return nil
	})
}

// LockEvent implements worklist.Turns.
func (s *WorklistStore) LockEvent(ctx context.Context, tx changeset.Tx, key payment.EventKey) error {
	db, ours := tx.(pipeline.DB)
	if !ours {
		return errForeignTx
	}
	if err := s.q.WorklistEventLock(ctx, db, &dbsqlc.WorklistEventLockParams{Account: key.Account, ProviderEventID: key.ID}); err != nil {
		return fmt.Errorf("lock event %s: %w", key.ID, err)
	}
	return nil
}

// EvidenceIn implements worklist.Turns.
func (s *WorklistStore) EvidenceIn(ctx context.Context, tx changeset.Tx, id payment.DiscrepancyID) (payment.DiscrepancyEvidence, error) {
	db, ours := tx.(pipeline.DB)
	if !ours {
		return payment.DiscrepancyEvidence{}, errForeignTx
	}
	found, err := s.evidence(ctx, db, uuid.UUID(id))
	return found[uuid.UUID(id)], err
}

// evidence reads the evidence that decides whether some discrepancies are settled.
func (s *WorklistStore) evidence(ctx context.Context, db dbsqlc.DBTX, ids ...uuid.UUID) (map[uuid.UUID]payment.DiscrepancyEvidence, error) {
	rows, err := s.q.WorklistFacts(ctx, db, ids)
	if err != nil {
		return nil, fmt.Errorf("read what %d discrepancies are about: %w", len(ids), err)
	}
	found := make(map[uuid.UUID]payment.DiscrepancyEvidence, len(ids))
	for _, row := range rows {
		found[row.DiscrepancyID] = payment.DiscrepancyEvidence{
			Circumstances: circumstances(row), Captured: row.Captured, Refunded: row.Refunded, Disputed: row.Disputed,
			Currency: payment.Currency(row.Currency), Amount: row.Expected, Verdict: fsm.Verdict(row.Verdict),
		}
	}
	more, err := s.q.WorklistEvidence(ctx, db, ids)
	if err != nil {
		return nil, fmt.Errorf("read what settles %d discrepancies: %w", len(ids), err)
	}
	for _, row := range more {
		e := found[row.DiscrepancyID]
		e.Disputing, e.ForeignCaptured = row.Disputing, row.ForeignCaptured
		e.InBooks, e.Known, e.AllRead = row.InBooks, row.Known, row.AllRead
		found[row.DiscrepancyID] = e
	}
	return found, nil
}

func circumstances(row *dbsqlc.WorklistFactsRow) payment.Circumstances {
	c := payment.Circumstances{
		Held: row.Held, Taken: row.Taken, Foreign: row.ForeignHeld, MayHold: row.MayHold, Refunding: row.Refunding,
		Order: payment.NeedOf(row.Beside, row.Underpaid), Refund: fsm.RefundState(row.Refund), Dispute: fsm.DisputeState(row.Dispute),
	}
	if row.HasAttempt {
		c.State = stateOfRow(dbsqlc.AttemptStatus(row.Status), dbsqlc.AttemptStage(row.Stage))
	}
	return c
}
