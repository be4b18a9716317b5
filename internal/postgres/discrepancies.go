package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// openAll opens discrepancies and publishes new ones, one statement each, in the order of their causes, since
// another transaction that opens the same waits for this one.
func (t *txn) openAll(ctx context.Context, ds []changeset.DiscrepancyWrite) error {
	for _, d := range slices.SortedStableFunc(slices.Values(ds), byCause) {
		if err := t.q.DiscrepancyOpen(ctx, t.Deferred(), discrepancyOpenParams(d.Discrepancy, d.Opened)); err != nil {
			return fmt.Errorf("open discrepancy %s: %w", d.Discrepancy.Kind, err)
		}
	}
	return nil
}

func byCause(x, y changeset.DiscrepancyWrite) int {
	a, b := x.Discrepancy, y.Discrepancy
	return cmp.Or(
		cmp.Compare(a.Kind, b.Kind), strings.Compare(attemptOf(a), attemptOf(b)),
		strings.Compare(a.Event.Account, b.Event.Account), strings.Compare(a.Event.ID, b.Event.ID),
		strings.Compare(a.About, b.About), strings.Compare(a.AboutID, b.AboutID),
	)
}

func attemptOf(d payment.Discrepancy) string {
	if d.AttemptID == nil {
		return ""
	}
	return d.AttemptID.String()
}

// Discrepancy implements commands.Store.
func (s *Store) Discrepancy(ctx context.Context, id payment.DiscrepancyID) (payment.Discrepancy, error) {
	var d payment.Discrepancy
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.DiscrepancyRead(ctx, c, uuid.UUID(id))
		if err != nil {
			return fmt.Errorf("read discrepancy %s: %w", id, pool.Missing(err, payment.ErrDiscrepancyNotFound))
		}
		d = discrepancyFromRow(row)
		return nil
	})
	return d, err
}

// DiscrepancyLock implements commands.Tx.
func (t *txn) DiscrepancyLock(ctx context.Context, id payment.DiscrepancyID) (payment.Discrepancy, error) {
	row, err := t.q.DiscrepancyLock(ctx, t, uuid.UUID(id))
	if err != nil {
		return payment.Discrepancy{}, fmt.Errorf("lock discrepancy %s: %w", id, pool.Missing(err, payment.ErrDiscrepancyNotFound))
	}
	return discrepancyFromRow(row), nil
}

// DiscrepancyPropose implements commands.Tx.
func (t *txn) DiscrepancyPropose(ctx context.Context, d payment.Discrepancy) error {
	if _, err := t.q.DiscrepancyPropose(ctx, t.DeferredRows(1, pool.ErrGuard), discrepancyProposeParams(d)); err != nil {
		return fmt.Errorf("propose for discrepancy %s: %w", d.ID, err)
	}
	return nil
}

// DiscrepancyResolve implements commands.Tx.
func (t *txn) DiscrepancyResolve(ctx context.Context, d payment.Discrepancy, resolved outbox.Message) error {
	if _, err := t.q.DiscrepancyResolve(ctx, t.DeferredRows(1, pool.ErrGuard), discrepancyResolveParams(d)); err != nil {
		return fmt.Errorf("resolve discrepancy %s: %w", d.ID, err)
	}
	return t.publish(ctx, []outbox.Message{resolved})
}
