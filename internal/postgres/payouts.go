package postgres

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// SettlementsSave implements reconcile.Store.
func (s *Store) SettlementsSave(ctx context.Context, all []payment.Settlement, payouts []payment.Payout) error {
	return s.inTx(ctx, func(ctx context.Context, tx *txn) error {
		ours, err := tx.payoutsInsert(ctx, payouts)
		if err != nil {
			return err
		}
		rows, err := tx.q.SettlementsSave(ctx, tx, settlementsSaveParams(all))
		if err != nil {
			return fmt.Errorf("insert %d settlements: %w", len(all), err)
		}
		made := map[string]bool{}
		for _, row := range rows {
			made[row.EntryID] = row.Made
		}
		var messages []outbox.Message
		for _, one := range all {
			if made[one.EntryID] {
				one.Payout = ours[one.PayoutID]
				messages = append(messages, outbox.Settlement(one))
			}
		}
		return tx.publish(ctx, messages)
	})
}

// AccountEntriesSave implements reconcile.Store.
func (s *Store) AccountEntriesSave(ctx context.Context, all []payment.AccountEntry, payouts []payment.Payout) error {
	return s.inTx(ctx, func(ctx context.Context, tx *txn) error {
		if _, err := tx.payoutsInsert(ctx, payouts); err != nil {
			return err
		}
		if err := tx.q.AccountEntriesSave(ctx, tx, accountEntriesSaveParams(all)); err != nil {
			return fmt.Errorf("insert %d entries without a payment: %w", len(all), err)
		}
		return nil
	})
}

// EntriesKept implements reconcile.Store.
func (s *Store) EntriesKept(ctx context.Context, account string, ids []string) (map[string]payment.Money, error) {
	kept := map[string]payment.Money{}
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		found, err := s.q.EntriesKept(ctx, c, &dbsqlc.EntriesKeptParams{Account: account, EntryIds: ids})
		if err != nil {
			return fmt.Errorf("read which of %d entries are stored: %w", len(ids), err)
		}
		for _, row := range found {
			kept[row.EntryID] = payment.Money{Minor: row.Amount, Currency: payment.Currency(row.Currency)}
		}
		return nil
	})
	return kept, err
}

// payoutsInsert inserts the payouts of an account that are missing, and returns the ids of all by their names at the provider.
func (t *txn) payoutsInsert(ctx context.Context, all []payment.Payout) (map[string]payment.PayoutID, error) {
	if len(all) == 0 {
		return nil, nil //nolint:nilnil // there are none
	}
	if err := t.q.PayoutsInsert(ctx, t, payoutsInsertParams(all)); err != nil {
		return nil, fmt.Errorf("insert %d payouts: %w", len(all), err)
	}
	rows, err := t.q.PayoutsNamed(ctx, t, &dbsqlc.PayoutsNamedParams{Account: all[0].Account, ProviderPayoutIds: payoutNames(all)})
	if err != nil {
		return nil, fmt.Errorf("read %d payouts: %w", len(all), err)
	}
	ids := make(map[string]payment.PayoutID, len(rows))
	for _, row := range rows {
		ids[row.ProviderPayoutID] = payment.PayoutID(row.PayoutID)
	}
	return ids, nil
}

// PayoutsSave implements reconcile.Store.
func (s *Store) PayoutsSave(ctx context.Context, told []payment.Payout) error {
	return s.inTx(ctx, func(ctx context.Context, tx *txn) error {
		if _, err := tx.payoutsInsert(ctx, told); err != nil {
			return err
		}
		rows, err := tx.q.PayoutsLock(ctx, tx, &dbsqlc.PayoutsLockParams{Account: told[0].Account, ProviderPayoutIds: payoutNames(told)})
		if err != nil {
			return fmt.Errorf("lock %d payouts: %w", len(told), err)
		}
		reports := make(map[string]payment.PayoutReport, len(told))
		for _, p := range told {
			reports[p.ProviderID] = p.PayoutReport
		}
		var messages []outbox.Message
		for _, row := range rows {
			m, published, err := tx.payoutMove(ctx, row, reports[row.ProviderPayoutID])
			if err != nil {
				return fmt.Errorf("write payout %s: %w", row.PayoutID, err)
			}
			if published {
				messages = append(messages, m)
			}
		}
		return tx.publish(ctx, messages)
	})
}

// payoutMove applies a report to a locked payout, and returns the event of its new status.
func (t *txn) payoutMove(ctx context.Context, row *dbsqlc.Payouts, r payment.PayoutReport) (m outbox.Message, published bool, err error) {
	was := payoutFromRow(row)
	p, changed := was.Take(r, t.Now())
	if !changed {
		return m, false, nil
	}
	if err := t.q.PayoutMove(ctx, t, payoutMoveParams(p)); err != nil {
		return m, false, fmt.Errorf("update: %w", err)
	}
	if p.Status == was.Status {
		return m, false, nil
	}
	counted, err := t.q.PayoutRead(ctx, t, uuid.UUID(p.ID))
	if err != nil {
		return m, false, fmt.Errorf("count its settlements: %w", err)
	}
	m, published = outbox.Payout(countedPayout(&counted.Payouts, counted.Entries, counted.Explained))
	return m, published, nil
}
