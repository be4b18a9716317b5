package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// ListStore reads the lists of orders, attempts, refunds and disputes. It locks nothing.
//
// Each statement is planned for the given filters: the best plan for a user's few items is not the best for all items of
// a day. Items are found by their creation time, or by their user. A status, an account, an amount or the time of the
// last change is compared on the way. Reach bounds how far a statement reads back, for any number of items.

var _ lists.Store = (*ListStore)(nil)

// ListStore reads lists. It is safe for concurrent use.
type ListStore struct {
	pool *pool.Pool
	q    *dbsqlc.Queries
}

// NewListStore returns a store on the connections of p.
func NewListStore(p *pool.Pool) *ListStore { return &ListStore{pool: p, q: dbsqlc.New()} }

// planned runs a read whose statements are planned for their values.
func (s *ListStore) planned(ctx context.Context, read func(ctx context.Context, tx *pipeline.Tx) error) error {
	return s.pool.OnceBehind(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL plan_cache_mode = force_custom_plan"); err != nil {
			return fmt.Errorf("plan a list: %w", err)
		}
		return read(ctx, tx)
	})
}

// Refunds implements lists.Store.
func (s *ListStore) Refunds(ctx context.Context, q lists.Query) (list []payment.Refund, err error) {
	err = s.planned(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		rows, err := s.q.RefundsList(ctx, tx, &dbsqlc.RefundsListParams{
			BeforeAt: q.Before.At, BeforeID: uuidOf(q.Before.ID), UntilAt: q.Until.At, UntilID: uuidOf(q.Until.ID), CreatedFrom: q.CreatedFrom, CreatedTo: q.CreatedTo,
			UpdatedFrom: q.UpdatedFrom, UpdatedTo: q.UpdatedTo, UserID: string(q.User), Account: q.Account, Currency: string(q.Currency),
			AmountMin: q.AmountMin, AmountMax: q.AmountMax, Status: q.Status, Most: most(q),
		})
		if err != nil {
			return fmt.Errorf("list refunds: %w", err)
		}
		for _, row := range rows {
			list = append(list, refundFromRow(&row.Refunds, row.ReadAt))
		}
		return nil
	})
	return list, err
}

// Disputes implements lists.Store.
func (s *ListStore) Disputes(ctx context.Context, q lists.Query) (list []payment.Dispute, err error) {
	err = s.planned(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		rows, err := s.q.DisputesList(ctx, tx, &dbsqlc.DisputesListParams{
			BeforeAt: q.Before.At, BeforeID: uuidOf(q.Before.ID), UntilAt: q.Until.At, UntilID: uuidOf(q.Until.ID), CreatedFrom: q.CreatedFrom, CreatedTo: q.CreatedTo,
			UpdatedFrom: q.UpdatedFrom, UpdatedTo: q.UpdatedTo, UserID: string(q.User), Account: q.Account, Currency: string(q.Currency),
			AnyAmount: q.AnyAmount(), AmountMin: q.AmountMin, AmountMax: q.AmountMax, Status: q.Status, Most: most(q),
		})
		if err != nil {
			return fmt.Errorf("list disputes: %w", err)
		}
		list = disputesFromRows(rows)
		return nil
	})
	return list, err
}

// DisputesDue implements lists.Store.
func (s *ListStore) DisputesDue(ctx context.Context, q lists.Query) (list []payment.Dispute, err error) {
	err = s.planned(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		rows, err := s.q.DisputesDue(ctx, tx, &dbsqlc.DisputesDueParams{
			AfterDue: q.Before.At, AfterID: uuidOf(q.Before.ID), Account: q.Account, Status: q.Status, Most: most(q),
		})
		if err != nil {
			return fmt.Errorf("list disputes by their dates: %w", err)
		}
		list = disputesFromRows(rows)
		return nil
	})
	return list, err
}

// DisputesWaiting counts the open disputes of each account. It passes to take the seconds until the first deadline for
// an answer: less than 0 if the deadline passed within a week, +Inf without a deadline.
func (s *ListStore) DisputesWaiting(ctx context.Context, take func(account string, open int64, due float64)) error {
	return s.pool.Aside(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.DisputesWaiting(ctx, c)
		if err != nil {
			return fmt.Errorf("count the open disputes: %w", err)
		}
		for _, row := range rows {
			take(row.Account, row.Open, row.DueSeconds)
		}
		return nil
	})
}

func most(q lists.Query) int32 { return int32(q.Limit) } //nolint:gosec // a page
