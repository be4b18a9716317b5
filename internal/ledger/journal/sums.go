package journal

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
)

// Sum is what a time has of an account in one currency, in minor units.
type Sum struct {
	Account  string
	Currency payment.Currency
	// Captured, Refunded and ChargedBack are the movements recorded here, less their reversals.
	Captured, Refunded, ChargedBack int64
	// Fees are the stated fees of the entries of the books, and Net is what the entries added to the balance. PaidOut is the part of Net
	// that is in a payout by now.
	Fees, Net, PaidOut int64
	// Reserved and Transferred are taken from the balance. Unexplained was added to it by payments that are not recorded here, and by
	// adjustments; UnexplainedEntries are their number.
	Reserved, Transferred, Unexplained int64
	UnexplainedEntries                 int64
}

// Open is the part of Net that is in no payout yet.
func (s Sum) Open() int64 { return s.Net - s.PaidOut }

// NotBooked is the money that is recorded here, and that the entries of the same time do not have. It is negative for more entries than
// movements.
func (s Sum) NotBooked() int64 {
	return s.Captured - s.Refunded - s.ChargedBack - s.Fees - s.Reserved - s.Transferred + s.Unexplained - s.Net
}

// Plus adds another sum of the same account and currency.
func (s Sum) Plus(o Sum) Sum {
	s.Account, s.Currency = o.Account, o.Currency
	s.Captured += o.Captured
	s.Refunded += o.Refunded
	s.ChargedBack += o.ChargedBack
	s.Fees += o.Fees
	s.Net += o.Net
	s.PaidOut += o.PaidOut
	s.Reserved += o.Reserved
	s.Transferred += o.Transferred
	s.Unexplained += o.Unexplained
	s.UnexplainedEntries += o.UnexplainedEntries
	return s
}

// Moved returns the Sum of one movement of money, such as a capture, or of several movements of one kind.
func Moved(account string, kind payment.MovementKind, m payment.Money) Sum {
	s := Sum{Account: account, Currency: m.Currency}
	switch of := sign(kind) * m.Minor; against(kind) {
	case Refunds:
		s.Refunded = -of
	case Chargebacks:
		s.ChargedBack = -of
	default:
		s.Captured = of
	}
	return s
}

// Entered is the sum of some entries of a kind that belong to no recorded payment.
func Entered(account, kind string, net payment.Money, paidOut, entries int64) Sum {
	s := Sum{Account: account, Currency: net.Currency, Net: net.Minor, PaidOut: paidOut}
	switch payment.EntryKind(kind) {
	case payment.EntryReturn: // what the entries of the first payout added to the balance
		s.Net, s.PaidOut = 0, 0
	case payment.EntryFee:
		s.Fees = -net.Minor
	case payment.EntryReserve:
		s.Reserved = -net.Minor
	case payment.EntryTransfer:
		s.Transferred = -net.Minor
	case payment.EntryAdjustment:
		s.Unexplained, s.UnexplainedEntries = net.Minor, entries
	default:
		s.Unexplained, s.UnexplainedEntries = net.Minor, entries
	}
	return s
}

// Close is a month in sums, with its payouts and its unexplained entries.
type Close struct {
	Month   Month
	Sums    []Sum
	Payouts []Payout
	// Entries are the first entries that belong to no recorded payment; More is set if there are others.
	Entries []payment.AccountEntry
	More    bool
}

// shown is how many entries that belong to no recorded payment are listed.
const shown = 200

// Closing reads a month from several stores, none of which has a row of another one.
type Closing struct{ Stores []Store }

// Close sums a month up. It reads day by day, so that no statement reads a whole month.
func (c Closing) Close(ctx context.Context, m Month) (Close, error) {
	out := Close{Month: m}
	sums := ledger{}
	for _, store := range c.Stores {
		for _, day := range m.Days() {
			of, err := store.Sums(ctx, day, day.AddDate(0, 0, 1))
			if err != nil {
				return Close{}, err
			}
			sums.add(of)
			payouts, err := store.Payouts(ctx, "", day)
			if err != nil {
				return Close{}, err
			}
			out.Payouts = append(out.Payouts, slices.DeleteFunc(payouts, func(p Payout) bool { return !p.Day.Equal(day) })...)
		}
	}
	var err error
	if out.Entries, out.More, err = c.entries(ctx, Query{From: m.From(), To: m.To()}); err != nil {
		return Close{}, err
	}
	out.Sums = sums.list()
	slices.SortStableFunc(out.Payouts, func(a, b Payout) int { return a.Day.Compare(b.Day) })
	return out, nil
}

// Between sums up by account and currency from a time until another one, which is not included.
func (c Closing) Between(ctx context.Context, from, to time.Time) ([]Sum, error) {
	sums := ledger{}
	for _, store := range c.Stores {
		of, err := store.Sums(ctx, from, to)
		if err != nil {
			return nil, err
		}
		sums.add(of)
	}
	return sums.list(), nil
}

// Totals sums up the accounts by currency.
func Totals(list []Sum) []Sum {
	all := ledger{}
	for _, s := range list {
		s.Account = ""
		all.add([]Sum{s})
	}
	return all.list()
}

// ledger has a sum for each account and currency.
type ledger map[sumKey]Sum

type sumKey struct {
	account  string
	currency payment.Currency
}

func (l ledger) add(list []Sum) {
	for _, s := range list {
		k := sumKey{s.Account, s.Currency}
		l[k] = l[k].Plus(s)
	}
}

// list returns the sums by account and currency.
func (l ledger) list() []Sum {
	return slices.SortedFunc(maps.Values(l), func(a, b Sum) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Currency, b.Currency))
	})
}

// EntriesOf reads the first entries of a payout that belong to no recorded payment, oldest first, and reports whether there are others.
func (c Closing) EntriesOf(ctx context.Context, account, payout string) (list []payment.AccountEntry, more bool, err error) {
	return c.entries(ctx, Query{Account: account, Payout: payout, To: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)})
}

func (c Closing) entries(ctx context.Context, q Query) (list []payment.AccountEntry, more bool, err error) {
	q.Limit = shown + 1
	for _, store := range c.Stores {
		own, err := store.Entries(ctx, q)
		if err != nil {
			return nil, false, err
		}
		list = append(list, own...)
	}
	slices.SortStableFunc(list, func(a, b payment.AccountEntry) int { return a.BookedAt().Compare(b.BookedAt()) })
	if len(list) > shown {
		return list[:shown], true, nil
	}
	return list, false, nil
}
