package supportstore

import (
	"context"
	"fmt"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/support"
)

// lastRune ends a range of all texts that begin alike.
const lastRune = "\U0010FFFF"

// Search implements support.Store. It is planned for the text at hand: the best way
// to the few ids that begin with one text is not the one to the many with another.
func (s *Store) Search(ctx context.Context, q support.SearchQuery) ([]support.Hit, error) {
	var hits []support.Hit
	err := s.pool.OnceBehind(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL plan_cache_mode = force_custom_plan"); err != nil {
			return fmt.Errorf("plan a search: %w", err)
		}
		rows, err := s.q.SupportSearch(ctx, tx, &dbsqlc.SupportSearchParams{
			Q: q.Text, Past: q.Text + lastRune, FirstID: q.First, LastID: q.Last,
			BeforeAt: q.Before, BeforeID: q.BeforeID, Most: int32(q.Limit), //nolint:gosec // a page
		})
		if err != nil {
			return fmt.Errorf("search: %w", err)
		}
		hits = nil
		for _, row := range rows {
			hits = append(hits, support.Hit{
				Type: row.Type, ID: row.ID, OrderID: payment.OrderID(row.OrderID), AttemptID: (*payment.AttemptID)(row.AttemptID),
				Status: row.Status, Matched: row.Matched, At: row.At,
			})
		}
		return nil
	})
	return hits, err
}
