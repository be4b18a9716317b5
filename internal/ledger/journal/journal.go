package journal

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
)

// pageSize is how many rows are read at once, which bounds the memory.
const pageSize = 5000

// Journal is the journal of a month, of one account or, if it is empty, of all.
type Journal struct {
	Store   Store
	Month   Month
	Account string
}

// Each passes the transactions to do, day by day, in the same order at each call. A row that is stored meanwhile may be missing; a
// transaction is always whole. It returns the errors of the store and of do.
func (j Journal) Each(ctx context.Context, do func(Transaction) error) error {
	for _, day := range j.Month.Days() {
		if err := j.day(ctx, day, do); err != nil {
			return err
		}
	}
	return nil
}

func (j Journal) day(ctx context.Context, day time.Time, do func(Transaction) error) error {
	q := Query{Account: j.Account, From: day, To: day.AddDate(0, 0, 1), Limit: pageSize}
	err := each(ctx, q, j.Store.Movements, placeOfMovement, does(do, ofMovement))
	if err == nil {
		err = each(ctx, q, j.Store.Settlements, placeOfSettlement, does(do, ofSettlement))
	}
	if err == nil {
		err = each(ctx, q, j.Store.Entries, placeOfEntry, func(e payment.AccountEntry) error {
			if e.Kind == string(payment.EntryReturn) {
				return nil // the earlier payout posts the money
			}
			return do(ofEntry(e))
		})
	}
	if err != nil {
		return err
	}
	payouts, err := j.Store.Payouts(ctx, j.Account, day)
	if err != nil {
		return err
	}
	for _, p := range payouts {
		if p.Day.Equal(day) {
			if err := do(ofPayout(p)); err != nil {
				return err
			}
		}
		if back, returned := p.Returned(); returned && back.Equal(day) {
			if err := do(ofReturn(p, back)); err != nil {
				return err
			}
		}
	}
	return nil
}

func does[T any](do func(Transaction) error, of func(T) Transaction) func(T) error {
	return func(row T) error { return do(of(row)) }
}
