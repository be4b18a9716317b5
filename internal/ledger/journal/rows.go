package journal

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/payment"
)

// Movement is a recorded movement of captured money.
type Movement struct {
	payment.Movement

	OrderID   payment.OrderID
	AttemptID payment.AttemptID
	Account   string
	// PaymentID is the provider's id of the payment, empty if it named none.
	PaymentID string
	// Moved is the provider's time of the movement, but at most the time at which it was recorded.
	Moved time.Time
}

// Payout is a payout with its day, and with the nets of its entries.
type Payout struct {
	payment.Payout

	// Day is the day of its arrival; or else of its last entry; or else the day on which it was recorded.
	Day time.Time
	// Sums are the nets of its entries, by the currency of the balance. A net that is not stated is the amount less the fee.
	Sums []PayoutSum
}

// PayoutSum is the sum of a payout's entries in a currency.
type PayoutSum struct {
	Currency payment.Currency
	Entries  int64
	// Settled is of its settlements. Others is of its entries that belong to no recorded payment.
	Settled, Others int64
}

// Returned is the day on which the money of a failed or cancelled payout was back at the provider; false for any other payout.
func (p Payout) Returned() (time.Time, bool) {
	if p.Status != payment.PayoutFailed && p.Status != payment.PayoutCanceled {
		return time.Time{}, false
	}
	if day := p.UpdatedAt.UTC().Truncate(24 * time.Hour); day.After(p.Day) {
		return day, true
	}
	return p.Day, true
}

// Moneys returns the amounts of the payout: the provider's, or else the sums of its entries.
func (p Payout) Moneys() (all []payment.Money) {
	if p.Money != nil {
		return []payment.Money{*p.Money}
	}
	for _, s := range p.Sums {
		if s.Currency != "" {
			all = append(all, payment.Money{Minor: s.Settled + s.Others, Currency: s.Currency})
		}
	}
	return all
}

// Entries returns the number of the payout's entries in the books, and their net amounts in the payout's currency: of
// recorded payments, and of others.
func (p Payout) Entries() (n, settled, others int64) {
	for _, s := range p.Sums {
		n += s.Entries
		if p.Money != nil && s.Currency == p.Money.Currency {
			settled, others = s.Settled, s.Others
		}
	}
	return n, settled, others
}

// Rest is the amount of the payout that no entry of the books has; 0 while the provider has not stated the amount.
func (p Payout) Rest() int64 {
	if p.Money == nil {
		return 0
	}
	_, settled, others := p.Entries()
	return p.Money.Minor - settled - others
}

// Place is the position of a row.
type Place struct {
	At     time.Time
	ID     uuid.UUID
	Number int
}

// Query is a page of rows behind a place, oldest first. An empty account is any. Payout is the provider's id of a payout, for its
// entries alone; empty for any.
type Query struct {
	Account  string
	Payout   string
	From, To time.Time
	After    Place
	Limit    int
}

// Store reads the ledger. Its errors are those of package payment.
type Store interface {
	Movements(ctx context.Context, q Query) ([]Movement, error)
	Settlements(ctx context.Context, q Query) ([]payment.Settlement, error)
	// Entries leaves out entries that are settlements by now.
	Entries(ctx context.Context, q Query) ([]payment.AccountEntry, error)
	// Payouts reads the payouts of a day, and the payouts with money that came back on it.
	Payouts(ctx context.Context, account string, day time.Time) ([]Payout, error)
	// Sums adds up each account and currency from a time until another one, which is not included.
	Sums(ctx context.Context, from, to time.Time) ([]Sum, error)
}

// each passes all rows of a query to do, a page at a time.
func each[T any](
	ctx context.Context, q Query, read func(context.Context, Query) ([]T, error), place func(T) Place, do func(T) error,
) error {
	for {
		page, err := read(ctx, q)
		if err != nil {
			return err
		}
		for _, row := range page {
			if err := do(row); err != nil {
				return err
			}
		}
		if len(page) < q.Limit {
			return nil
		}
		q.After = place(page[len(page)-1])
	}
}

func placeOfMovement(m Movement) Place {
	return Place{m.Moved, uuid.UUID(m.AttemptID), m.Number}
}

func placeOfSettlement(s payment.Settlement) Place {
	return Place{At: s.BookedAt(), ID: uuid.UUID(s.ID())}
}

func placeOfEntry(e payment.AccountEntry) Place {
	return Place{At: e.BookedAt(), ID: uuid.UUID(e.ID())}
}
