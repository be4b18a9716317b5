package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/ledger/journal"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
)

var _ journal.Store = (*JournalStore)(nil)

// JournalStore reads the ledger of a month. It locks nothing. Its statements are planned and run as those of lists. It is safe for
// concurrent use.
type JournalStore struct{ lists *ListStore }

// Journal returns the reads of the journal.
func (s *Store) Journal() *JournalStore { return &JournalStore{s.Lists()} }

// Movements implements journal.Store.
func (s *JournalStore) Movements(ctx context.Context, q journal.Query) (list []journal.Movement, err error) {
	err = s.lists.planned(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		rows, err := s.lists.q.JournalMovements(ctx, tx, &dbsqlc.JournalMovementsParams{
			FromAt: q.From, ToAt: q.To, AfterAt: q.After.At, AfterID: q.After.ID, AfterNumber: int32(q.After.Number), Account: q.Account, Most: int32(q.Limit), //nolint:gosec // a count of movements, and a page's size
		})
		if err != nil {
			return fmt.Errorf("read movements from %s: %w", q.From, err)
		}
		for _, r := range rows {
			m := &r.MoneyMovements
			list = append(list, journal.Movement{
				Movement: movementFromRow(m), OrderID: payment.OrderID(m.OrderID), AttemptID: payment.AttemptID(m.AttemptID), Account: m.Account,
				PaymentID: r.ProviderPaymentID, Moved: r.MovedAt,
			})
		}
		return nil
	})
	return list, err
}

// Settlements implements journal.Store.
func (s *JournalStore) Settlements(ctx context.Context, q journal.Query) (list []payment.Settlement, err error) {
	err = s.lists.planned(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		rows, err := s.lists.q.JournalSettlements(ctx, tx, &dbsqlc.JournalSettlementsParams{
			FromAt: q.From, ToAt: q.To, AfterAt: q.After.At, AfterID: q.After.ID, Account: q.Account, Most: int32(q.Limit), //nolint:gosec // a page's size
		})
		if err != nil {
			return fmt.Errorf("read settlements from %s: %w", q.From, err)
		}
		list = settlementsFromRows(rows)
		return nil
	})
	return list, err
}

// Entries implements journal.Store.
func (s *JournalStore) Entries(ctx context.Context, q journal.Query) (list []payment.AccountEntry, err error) {
	err = s.lists.planned(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		rows, err := s.lists.q.JournalEntries(ctx, tx, &dbsqlc.JournalEntriesParams{
			FromAt: q.From, ToAt: q.To, AfterAt: q.After.At, AfterID: q.After.ID, Account: q.Account, ProviderPayoutID: q.Payout, Most: int32(q.Limit), //nolint:gosec // a page's size
		})
		if err != nil {
			return fmt.Errorf("read entries without a payment from %s: %w", q.From, err)
		}
		for _, r := range rows {
			list = append(list, accountEntryFromRow(r))
		}
		return nil
	})
	return list, err
}

// Payouts implements journal.Store.
func (s *JournalStore) Payouts(ctx context.Context, account string, day time.Time) (list []journal.Payout, err error) {
	err = s.lists.planned(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		rows, err := s.lists.q.JournalPayouts(ctx, tx, &dbsqlc.JournalPayoutsParams{Account: account, Day: day})
		if err != nil || len(rows) == 0 {
			return err
		}
		of := &dbsqlc.PayoutsSettledParams{}
		for _, r := range rows {
			of.Accounts, of.ProviderPayoutIds = append(of.Accounts, r.Payouts.Account), append(of.ProviderPayoutIds, r.Payouts.ProviderPayoutID)
		}
		settled, err := s.lists.q.PayoutsSettled(ctx, tx, of)
		if err != nil {
			return fmt.Errorf("sum their settlements: %w", err)
		}
		entered, err := s.lists.q.PayoutsEntered(ctx, tx, &dbsqlc.PayoutsEnteredParams{Accounts: of.Accounts, ProviderPayoutIds: of.ProviderPayoutIds})
		if err != nil {
			return fmt.Errorf("sum their other entries: %w", err)
		}
		list = payoutsWithSums(rows, settled, entered)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the payouts of %s: %w", day.Format(time.DateOnly), err)
	}
	return list, nil
}

// payoutsWithSums adds to each payout the sums of its entries, in the order of their currencies.
func payoutsWithSums(rows []*dbsqlc.JournalPayoutsRow, settled []*dbsqlc.PayoutsSettledRow, entered []*dbsqlc.PayoutsEnteredRow) []journal.Payout {
	list := make([]journal.Payout, 0, len(rows))
	for _, r := range rows {
		y, m, d := r.Day.Date()
		p := journal.Payout{Payout: payoutFromRow(&r.Payouts), Day: time.Date(y, m, d, 0, 0, 0, 0, time.UTC)}
		sums := map[string]journal.PayoutSum{}
		for _, one := range settled {
			if one.Account == p.Account && one.PayoutID == p.ProviderID {
				sums[one.BalanceCurrency] = journal.PayoutSum{Currency: payment.Currency(one.BalanceCurrency), Entries: one.Entries, Settled: one.Net}
			}
		}
		for _, one := range entered {
			if one.Account == p.Account && one.PayoutID == p.ProviderID {
				sum := sums[one.BalanceCurrency]
				sum.Currency, sum.Entries, sum.Others = payment.Currency(one.BalanceCurrency), sum.Entries+one.Entries, one.Net
				sums[one.BalanceCurrency] = sum
			}
		}
		for _, c := range slices.Sorted(maps.Keys(sums)) {
			p.Sums = append(p.Sums, sums[c])
		}
		list = append(list, p)
	}
	return list
}

// Sums implements journal.Store.
func (s *JournalStore) Sums(ctx context.Context, from, to time.Time) (list []journal.Sum, err error) {
	err = s.lists.planned(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		moved, err := s.lists.q.MonthMovements(ctx, tx, &dbsqlc.MonthMovementsParams{FromAt: from, ToAt: to})
		if err != nil {
			return fmt.Errorf("sum the movements from %s: %w", from, err)
		}
		settled, err := s.lists.q.MonthSettlements(ctx, tx, &dbsqlc.MonthSettlementsParams{FromAt: from, ToAt: to})
		if err != nil {
			return fmt.Errorf("sum the settlements from %s: %w", from, err)
		}
		entered, err := s.lists.q.MonthEntries(ctx, tx, &dbsqlc.MonthEntriesParams{FromAt: from, ToAt: to})
		if err != nil {
			return fmt.Errorf("sum the other entries from %s: %w", from, err)
		}
		for _, r := range moved {
			list = append(list, journal.Moved(r.Account, payment.MovementKind(r.Kind), payment.Money{Minor: r.Amount, Currency: payment.Currency(r.Currency)}))
		}
		for _, r := range settled {
			list = append(list, journal.Sum{Account: r.Account, Currency: payment.Currency(r.Currency), Fees: r.Fee, Net: r.Net, PaidOut: r.PaidOut})
		}
		for _, r := range entered {
			list = append(list, journal.Entered(r.Account, r.Kind, payment.Money{Minor: r.Net, Currency: payment.Currency(r.BalanceCurrency)}, r.PaidOut, r.Entries))
		}
		return nil
	})
	return list, err
}
