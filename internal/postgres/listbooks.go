package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/ledger/reconcile"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// Settlements implements lists.Store.
func (s *ListStore) Settlements(ctx context.Context, q lists.Query) (list []payment.Settlement, err error) {
	err = s.planned(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		p := &dbsqlc.SettlementsListParams{
			BeforeAt: q.Before.At, BeforeID: uuidOf(q.Before.ID), UntilAt: q.Until.At, UntilID: uuidOf(q.Until.ID), CreatedFrom: q.CreatedFrom, CreatedTo: q.CreatedTo,
			Account: q.Account, AttemptID: uuid.UUID(q.Attempt), Kind: string(q.Movement), Currency: string(q.Currency), AmountMin: q.AmountMin, AmountMax: q.AmountMax,
			Most: most(q),
		}
		if q.Payout != (payment.PayoutID{}) {
			row, err := s.q.PayoutRead(ctx, tx, uuid.UUID(q.Payout))
			if errors.Is(err, pgx.ErrNoRows) || err == nil && q.Account != "" && q.Account != row.Payouts.Account {
				return nil
			}
			if err != nil {
				return fmt.Errorf("read payout %s: %w", q.Payout, err)
			}
			p.Account, p.ProviderPayoutID = row.Payouts.Account, row.Payouts.ProviderPayoutID
		}
		rows, err := s.q.SettlementsList(ctx, tx, p)
		if err != nil {
			return fmt.Errorf("list settlements: %w", err)
		}
		for _, row := range rows {
			one := settlementFromRow(&row.Settlements)
			if row.Payout != nil {
				one.Payout = payment.PayoutID(*row.Payout)
			}
			list = append(list, one)
		}
		return nil
	})
	return list, err
}

// Payouts implements lists.Store.
func (s *ListStore) Payouts(ctx context.Context, q lists.Query) (list []payment.Payout, err error) {
	err = s.planned(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		rows, err := s.q.PayoutsList(ctx, tx, &dbsqlc.PayoutsListParams{
			BeforeAt: q.Before.At, BeforeID: uuidOf(q.Before.ID), CreatedFrom: q.CreatedFrom, CreatedTo: q.CreatedTo, UpdatedFrom: q.UpdatedFrom, UpdatedTo: q.UpdatedTo,
			Account: q.Account, Currency: string(q.Currency), AnyAmount: q.AnyAmount(), AmountMin: q.AmountMin, AmountMax: q.AmountMax, Status: q.Status, Most: most(q),
		})
		if err != nil {
			return fmt.Errorf("list payouts: %w", err)
		}
		for _, row := range rows {
			list = append(list, countedPayout(&row.Payouts, row.Entries, row.Explained))
		}
		return nil
	})
	return list, err
}

// Payout implements lists.Store.
func (s *ListStore) Payout(ctx context.Context, id payment.PayoutID) (p payment.Payout, err error) {
	err = s.planned(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		row, err := s.q.PayoutRead(ctx, tx, uuid.UUID(id))
		if err != nil {
			return fmt.Errorf("read payout %s: %w", id, pool.Missing(err, payment.ErrPayoutNotFound))
		}
		p = countedPayout(&row.Payouts, row.Entries, row.Explained)
		return nil
	})
	return p, err
}

// Reconciliations implements lists.Store.
func (s *ListStore) Reconciliations(ctx context.Context, q lists.Query) (list []lists.Reconciliation, err error) {
	err = s.planned(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		rows, err := s.q.ReconciliationsList(ctx, tx, &dbsqlc.ReconciliationsListParams{
			BeforeAt: q.Before.At, BeforeID: uuidOf(q.Before.ID), CreatedFrom: q.CreatedFrom, CreatedTo: q.CreatedTo, UpdatedFrom: q.UpdatedFrom, UpdatedTo: q.UpdatedTo,
			Account: q.Account, Status: q.Status, Alive: reconcile.Alive.Seconds(), Most: most(q),
		})
		if err != nil {
			return fmt.Errorf("list reconciliations: %w", err)
		}
		for _, row := range rows {
			r, err := reconciliationFromRow(row)
			if err != nil {
				return err
			}
			list = append(list, r)
		}
		return nil
	})
	return list, err
}
