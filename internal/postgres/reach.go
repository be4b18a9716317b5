package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
)

// Reach implements lists.Store.
func (s *ListStore) Reach(ctx context.Context, q lists.Query, items int) (reached lists.Place, err error) {
	most := int32(items) //nolint:gosec // a constant
	err = s.planned(ctx, func(ctx context.Context, tx *pipeline.Tx) (err error) {
		if q.User != "" {
			reached, err = s.reachOfUser(ctx, tx, q, most)
		}
		if err == nil && (q.User == "" || q.Kind != lists.Orders) {
			reached, err = s.reach(ctx, tx, q, most)
		}
		if errors.Is(err, pgx.ErrNoRows) {
			reached, err = lists.Place{}, nil
		}
		if err != nil {
			return fmt.Errorf("find how far %s are read: %w", q.Kind, err)
		}
		return nil
	})
	return reached, err
}

// reachOfUser is reach among the user's orders. All else that a user has is found by these, and is bounded where they are too many.
func (s *ListStore) reachOfUser(ctx context.Context, db dbsqlc.DBTX, q lists.Query, items int32) (lists.Place, error) {
	if q.Kind != lists.Orders {
		all, err := lists.Parse(lists.Orders, nil)
		if err != nil {
			return lists.Place{}, err
		}
		all.User = q.User
		q = all
	}
	row, err := s.q.OrdersOfUserReach(ctx, db, &dbsqlc.OrdersOfUserReachParams{
		UserID: string(q.User), BeforeAt: q.Before.At, BeforeID: q.Before.ID, CreatedFrom: q.CreatedFrom, CreatedTo: q.CreatedTo, Skipped: items - 1,
	})
	if err != nil {
		return lists.Place{}, err
	}
	return lists.Place{At: row.CreatedAt, ID: row.OrderID}, nil
}

func (s *ListStore) reach(ctx context.Context, db dbsqlc.DBTX, q lists.Query, items int32) (lists.Place, error) {
	var at time.Time
	var id uuid.UUID
	switch q.Kind {
	case lists.Orders:
		row, err := s.q.OrdersReach(ctx, db, &dbsqlc.OrdersReachParams{
			BeforeAt: q.Before.At, BeforeID: q.Before.ID, CreatedFrom: q.CreatedFrom, CreatedTo: q.CreatedTo, Skipped: items - 1,
		})
		if err != nil {
			return lists.Place{}, err
		}
		return lists.Place{At: row.CreatedAt, ID: row.OrderID}, nil
	case lists.Attempts:
		row, err := s.q.AttemptsReach(ctx, db, &dbsqlc.AttemptsReachParams{
			BeforeAt: q.Before.At, BeforeID: uuidOf(q.Before.ID), CreatedFrom: q.CreatedFrom, CreatedTo: q.CreatedTo, Skipped: items - 1,
		})
		if err != nil {
			return lists.Place{}, err
		}
		at, id = row.CreatedAt, row.AttemptID
	case lists.Refunds:
		row, err := s.q.RefundsReach(ctx, db, &dbsqlc.RefundsReachParams{
			BeforeAt: q.Before.At, BeforeID: uuidOf(q.Before.ID), CreatedFrom: q.CreatedFrom, CreatedTo: q.CreatedTo, Skipped: items - 1,
		})
		if err != nil {
			return lists.Place{}, err
		}
		at, id = row.CreatedAt, row.RefundID
	case lists.Disputes:
		row, err := s.q.DisputesReach(ctx, db, &dbsqlc.DisputesReachParams{
			BeforeAt: q.Before.At, BeforeID: uuidOf(q.Before.ID), CreatedFrom: q.CreatedFrom, CreatedTo: q.CreatedTo, Skipped: items - 1,
		})
		if err != nil {
			return lists.Place{}, err
		}
		at, id = row.OpenedAt, row.DisputeID
	case lists.Settlements:
		row, err := s.q.SettlementsReach(ctx, db, &dbsqlc.SettlementsReachParams{
			BeforeAt: q.Before.At, BeforeID: uuidOf(q.Before.ID), CreatedFrom: q.CreatedFrom, CreatedTo: q.CreatedTo, Skipped: items - 1,
		})
		if err != nil {
			return lists.Place{}, err
		}
		at, id = row.BookedAt, row.SettlementID
	case lists.Payouts, lists.Reconciliations: // are read without Reach
		return lists.Place{}, nil
	}
	return lists.Place{At: at, ID: id.String()}, nil
}
