package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

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
			DiscrepancyID: id, Kind: string(d.Kind), Account: d.Event.Account, Text: d.Text, OpenedAt: d.At,
			OrderID: orNull(string(d.OrderID)), ProviderEventID: orNull(d.Event.ID),
		}
		if d.AttemptID != nil {
			attempt := uuid.UUID(*d.AttemptID)
			p.AttemptID = &attempt
		}
		if d.Money != nil {
			p.Amount, p.Currency = &d.Money.Minor, orNull(string(d.Money.Currency))
		}
		if err := t.q.DiscrepancyOpen(ctx, t.later(anyRows, nil), p); err != nil {
			return fmt.Errorf("open discrepancy %s: %w", d.Kind, err)
		}
	}
	return nil
}

func byCause(a, b payment.Discrepancy) int {
	return cmp.Or(
		cmp.Compare(a.Kind, b.Kind), strings.Compare(attemptOf(a), attemptOf(b)),
		strings.Compare(a.Event.Account, b.Event.Account), strings.Compare(a.Event.ID, b.Event.ID),
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
