package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/cell"
	"github.com/paylatch/paylatch/internal/outbox"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/mapping"
	"github.com/paylatch/paylatch/internal/postgres/pool"
	"github.com/paylatch/paylatch/internal/review"
)

// openAll opens discrepancies and publishes new ones, one statement each, in the order of their causes, since
// another transaction that opens the same waits for this one.
func (t *txn) openAll(ctx context.Context, ds []review.Discrepancy) error {
	for _, d := range slices.SortedStableFunc(slices.Values(ds), byCause) {
		d.ID = payment.DiscrepancyID(cell.Only.NewID())
		p := mapping.DiscrepancyOpenParams(d, outbox.Discrepancy(d))
		if err := t.q.DiscrepancyOpen(ctx, t.Deferred(), p); err != nil {
			return fmt.Errorf("open discrepancy %s: %w", d.Kind, err)
		}
	}
	return nil
}

func byCause(a, b review.Discrepancy) int {
	return cmp.Or(
		cmp.Compare(a.Kind, b.Kind), strings.Compare(attemptOf(a), attemptOf(b)),
		strings.Compare(a.Event.Account, b.Event.Account), strings.Compare(a.Event.ID, b.Event.ID),
		strings.Compare(a.About, b.About), strings.Compare(a.AboutID, b.AboutID),
	)
}

func attemptOf(d review.Discrepancy) string {
	if d.AttemptID == nil {
		return ""
	}
	return d.AttemptID.String()
}

// Discrepancy implements commands.Store.
func (s *Store) Discrepancy(ctx context.Context, id payment.DiscrepancyID) (review.Discrepancy, error) {
	var d review.Discrepancy
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.DiscrepancyRead(ctx, c, uuid.UUID(id))
		if err != nil {
			return fmt.Errorf("read discrepancy %s: %w", id, pool.Missing(err, payment.ErrDiscrepancyNotFound))
		}
		d = mapping.Discrepancy(row)
		return nil
	})
	return d, err
}

// DiscrepancyLock implements commands.Tx.
func (t *txn) DiscrepancyLock(ctx context.Context, id payment.DiscrepancyID) (review.Discrepancy, error) {
	row, err := t.q.DiscrepancyLock(ctx, t, uuid.UUID(id))
	if err != nil {
		return review.Discrepancy{}, fmt.Errorf("lock discrepancy %s: %w", id, pool.Missing(err, payment.ErrDiscrepancyNotFound))
	}
	return mapping.Discrepancy(row), nil
}

// DiscrepancySave implements commands.Tx.
func (t *txn) DiscrepancySave(ctx context.Context, d review.Discrepancy) error {
	var err error
	if d.Resolved == nil {
		_, err = t.q.DiscrepancyPropose(ctx, t.DeferredRows(1, pool.ErrGuard), mapping.DiscrepancyProposeParams(d))
	} else {
		_, err = t.q.DiscrepancyResolve(ctx, t.DeferredRows(1, pool.ErrGuard), mapping.DiscrepancyResolveParams(d))
	}
	if err != nil {
		return fmt.Errorf("resolve discrepancy %s: %w", d.ID, err)
	}
	if d.Resolved == nil {
		return nil
	}
	return t.publish(ctx, []outbox.Message{outbox.Discrepancy(d)})
}
