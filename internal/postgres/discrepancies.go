package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// DiscrepanciesOpen implements payment.Tx. They are rare: one statement each, in
// the order of their causes, since whoever opens the same waits for us.
func (t *txn) DiscrepanciesOpen(ctx context.Context, ds []payment.Discrepancy) error {
	for _, d := range slices.SortedStableFunc(slices.Values(ds), byCause) {
		id, err := uuid.NewV7()
		if err != nil {
			return fmt.Errorf("make an id: %w", err)
		}
		p := &dbsqlc.DiscrepancyOpenParams{
			DiscrepancyID: id, Kind: string(d.Kind), Account: d.Event.Account, About: d.About, Text: d.Text, OpenedAt: d.At,
			OrderID: orNull(string(d.OrderID)), ProviderEventID: orNull(d.Event.ID),
		}
		if d.AttemptID != nil {
			attempt := uuid.UUID(*d.AttemptID)
			p.AttemptID = &attempt
		}
		if d.Money != nil {
			p.Amount, p.Currency = &d.Money.Minor, orNull(string(d.Money.Currency))
		}
		if err := t.q.DiscrepancyOpen(ctx, t.Deferred(), p); err != nil {
			return fmt.Errorf("open discrepancy %s: %w", d.Kind, err)
		}
	}
	return nil
}

func byCause(a, b payment.Discrepancy) int {
	return cmp.Or(
		cmp.Compare(a.Kind, b.Kind), strings.Compare(attemptOf(a), attemptOf(b)),
		strings.Compare(a.Event.Account, b.Event.Account), strings.Compare(a.Event.ID, b.Event.ID),
		strings.Compare(a.About, b.About),
	)
}

func attemptOf(d payment.Discrepancy) string {
	if d.AttemptID == nil {
		return ""
	}
	return d.AttemptID.String()
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Discrepancy implements payment.Store.
func (s *Store) Discrepancy(ctx context.Context, id payment.DiscrepancyID) (payment.Discrepancy, error) {
	var d payment.Discrepancy
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.DiscrepancyRead(ctx, c, uuid.UUID(id))
		if err != nil {
			return fmt.Errorf("read discrepancy %s: %w", id, missing(err, payment.ErrDiscrepancyNotFound))
		}
		d = discrepancyFromRow(row)
		return nil
	})
	return d, err
}

// DiscrepancyLock implements payment.Tx.
func (t *txn) DiscrepancyLock(ctx context.Context, id payment.DiscrepancyID) (payment.Discrepancy, error) {
	row, err := t.q.DiscrepancyLock(ctx, t, uuid.UUID(id))
	if err != nil {
		return payment.Discrepancy{}, fmt.Errorf("lock discrepancy %s: %w", id, missing(err, payment.ErrDiscrepancyNotFound))
	}
	return discrepancyFromRow(row), nil
}

// DiscrepancyPropose implements payment.Tx.
func (t *txn) DiscrepancyPropose(ctx context.Context, d payment.Discrepancy) error {
	_, err := t.q.DiscrepancyPropose(ctx, t.DeferredRows(1, errGuard), &dbsqlc.DiscrepancyProposeParams{
		DiscrepancyID: uuid.UUID(d.ID), ProposedAt: &d.Proposed.At, ProposedBy: d.Proposed.By,
		ProposedPaymentID: d.Proposed.ProviderPaymentID, ProposedReason: d.Proposed.Reason,
	})
	if err != nil {
		return fmt.Errorf("propose how to resolve discrepancy %s: %w", d.ID, err)
	}
	return nil
}

// DiscrepancyResolve implements payment.Tx.
func (t *txn) DiscrepancyResolve(ctx context.Context, d payment.Discrepancy) error {
	_, err := t.q.DiscrepancyResolve(ctx, t.DeferredRows(1, errGuard), &dbsqlc.DiscrepancyResolveParams{
		DiscrepancyID: uuid.UUID(d.ID), ResolvedAt: &d.Resolved.At, ResolvedBy: d.Resolved.By, Resolution: string(d.Resolved.Resolution),
		Reason: d.Resolved.Reason, ProviderPaymentID: d.Resolved.ProviderPaymentID,
	})
	if err != nil {
		return fmt.Errorf("resolve discrepancy %s: %w", d.ID, err)
	}
	return nil
}

func discrepancyFromRow(row *dbsqlc.Discrepancies) payment.Discrepancy {
	d := payment.Discrepancy{
		ID: payment.DiscrepancyID(row.DiscrepancyID), Kind: payment.DiscrepancyKind(row.Kind), OrderID: payment.OrderID(orEmpty(row.OrderID)),
		Event: payment.EventKey{Account: row.Account, ID: orEmpty(row.ProviderEventID)}, About: row.About, Text: row.Text, At: row.OpenedAt,
	}
	if row.AttemptID != nil {
		id := payment.AttemptID(*row.AttemptID)
		d.AttemptID = &id
	}
	if row.Amount != nil {
		d.Money = &payment.Money{Minor: *row.Amount, Currency: payment.Currency(orEmpty(row.Currency))}
	}
	if row.ProposedAt != nil {
		d.Proposed = &payment.Proposed{
			ProviderPaymentID: row.ProposedPaymentID, By: row.ProposedBy, Reason: row.ProposedReason, At: *row.ProposedAt,
		}
	}
	if row.ResolvedAt != nil {
		d.Resolved = &payment.Resolved{
			Resolution: payment.Resolution(row.Resolution), ProviderPaymentID: row.ProviderPaymentID,
			By: row.ResolvedBy, Reason: row.Reason, At: *row.ResolvedAt,
		}
	}
	return d
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
