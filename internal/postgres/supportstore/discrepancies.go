package supportstore

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/mapping"
	"github.com/paylatch/paylatch/internal/postgres/pool"
	"github.com/paylatch/paylatch/internal/review"
	"github.com/paylatch/paylatch/internal/support"
)

// Discrepancies implements support.Store.
func (s *Store) Discrepancies(ctx context.Context, q support.DiscrepancyQuery) ([]support.Discrepancy, error) {
	var list []support.Discrepancy
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.DiscrepanciesList(ctx, c, &dbsqlc.DiscrepanciesListParams{
			Status: q.Status, Kind: string(q.Kind), BeforeAt: q.Before, BeforeID: q.BeforeID, Most: int32(q.Limit), //nolint:gosec // a page
		})
		if err != nil {
			return fmt.Errorf("list discrepancies: %w", err)
		}
		for _, row := range rows {
			list = append(list, listedFromRow(row))
		}
		return s.circumstances(ctx, c, list)
	})
	return list, err
}

// DiscrepancyShown implements support.Store.
func (s *Store) DiscrepancyShown(ctx context.Context, id payment.DiscrepancyID) (support.Discrepancy, error) {
	var d support.Discrepancy
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.DiscrepancyShow(ctx, c, uuid.UUID(id))
		if err != nil {
			return fmt.Errorf("read discrepancy %s: %w", id, pool.Missing(err, payment.ErrDiscrepancyNotFound))
		}
		one := []support.Discrepancy{listedFromRow((*dbsqlc.DiscrepanciesListRow)(row))}
		err = s.circumstances(ctx, c, one)
		d = one[0]
		return err
	})
	return d, err
}

// circumstances reads what the possible resolutions of discrepancies depend on.
func (s *Store) circumstances(ctx context.Context, db dbsqlc.DBTX, list []support.Discrepancy) error {
	ids := make([]uuid.UUID, len(list))
	for i, d := range list {
		ids[i] = uuid.UUID(d.ID)
	}
	rows, err := s.q.DiscrepanciesCircumstances(ctx, db, ids)
	if err != nil {
		return fmt.Errorf("read the circumstances of %d discrepancies: %w", len(ids), err)
	}
	by := make(map[payment.DiscrepancyID]review.Circumstances, len(rows))
	for _, row := range rows {
		by[payment.DiscrepancyID(row.DiscrepancyID)] = review.Circumstances{
			State: mapping.State(row.Status, row.Stage), Held: row.Held, Foreign: row.ForeignHeld, MayHold: row.MayHold, Refunding: row.Refunding, Beside: row.Beside, Refund: fsm.RefundState(row.Refund),
		}
	}
	for i := range list {
		list[i].Circumstances = by[list[i].ID]
	}
	return nil
}

func listedFromRow(row *dbsqlc.DiscrepanciesListRow) support.Discrepancy {
	return support.Discrepancy{
		Discrepancy: mapping.Discrepancy(&row.Discrepancies), EventID: (*payment.EventID)(row.EventID), ReadAt: row.ReadAt,
	}
}
