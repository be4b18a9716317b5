package journal_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/internal/ledger/journal"
	"github.com/paylatch/paylatch/internal/payment"
)

// october is the month of the tests' journals.
var october = journal.MonthOf(time.Date(2026, 10, 5, 0, 0, 0, 0, time.UTC))

// book is a ledger in memory.
type book struct {
	movements   []journal.Movement
	settlements []payment.Settlement
	entries     []payment.AccountEntry
	payouts     []journal.Payout
}

func (b *book) Movements(_ context.Context, q journal.Query) ([]journal.Movement, error) {
	return page(q, b.movements, func(m journal.Movement) (journal.Place, string) {
		return journal.Place{At: m.Moved, ID: uuid.UUID(m.AttemptID), Number: m.Number}, m.Account
	}), nil
}

func (b *book) Settlements(_ context.Context, q journal.Query) ([]payment.Settlement, error) {
	return page(q, b.settlements, func(s payment.Settlement) (journal.Place, string) {
		return journal.Place{At: s.BookedAt(), ID: uuid.UUID(s.ID())}, s.Account
	}), nil
}

func (b *book) Entries(_ context.Context, q journal.Query) ([]payment.AccountEntry, error) {
	return page(q, b.entries, func(e payment.AccountEntry) (journal.Place, string) {
		return journal.Place{At: e.BookedAt(), ID: uuid.UUID(e.ID())}, e.Account
	}), nil
}

func (b *book) Payouts(_ context.Context, account string, day time.Time) (all []journal.Payout, err error) {
	for _, p := range b.payouts {
		back, returned := p.Returned()
		if (account == "" || account == p.Account) && (p.Day.Equal(day) || returned && back.Equal(day)) {
			all = append(all, p)
		}
	}
	return all, nil
}

func (b *book) Sums(_ context.Context, from, to time.Time) (all []journal.Sum, err error) {
	in := func(t time.Time) bool { return !t.Before(from) && t.Before(to) }
	for _, m := range b.movements {
		if in(m.Moved) {
			all = append(all, journal.Moved(m.Account, m.Kind, m.Money))
		}
	}
	return all, nil
}

// page is a page of rows of a time and an account, in their order.
func page[T any](q journal.Query, rows []T, place func(T) (journal.Place, string)) (all []T) {
	order := func(a, b journal.Place) int {
		return cmp.Or(a.At.Compare(b.At), slices.Compare(a.ID[:], b.ID[:]), cmp.Compare(a.Number, b.Number))
	}
	for _, r := range rows {
		at, account := place(r)
		if (q.Account == "" || q.Account == account) && !at.At.Before(q.From) && at.At.Before(q.To) && order(at, q.After) > 0 {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b T) int {
		first, _ := place(a)
		second, _ := place(b)
		return order(first, second)
	})
	return all[:min(len(all), q.Limit)]
}

var (
	drawnAccount  = rapid.SampledFrom([]string{"stripe-eu", "mollie", "bank"})
	drawnCurrency = rapid.SampledFrom([]payment.Currency{"EUR", "JPY", "BHD", "USD", "XTS"})
	drawnKind     = rapid.SampledFrom(payment.MovementKinds()[2:])
	drawnMinor    = rapid.Int64Range(1, 1_000_000)
	// drawnTime is of the month, or a little before or after it.
	drawnTime = rapid.Custom(func(rt *rapid.T) time.Time {
		return october.From().Add(time.Duration(rapid.Int64Range(-86_400_000, 32*86_400_000).Draw(rt, "ms")) * time.Millisecond)
	})
	// drawnName is an id of a merchant or a provider, with all that they may contain.
	drawnName = rapid.OneOf(rapid.StringMatching(`[A-Za-z0-9_-]{1,12}`), rapid.Just("=cmd|' /C'!A1"), rapid.Just("a, b; c: [2026-01-01] %  (x)\t\"\n"), rapid.Just("Ünïcode-заказ-７"))
)

// drawnBook is a random ledger. The ids are of the rows' numbers, so that no two are the same.
func drawnBook(rt *rapid.T) *book {
	b := &book{}
	id := func(n int) (id uuid.UUID) {
		id[0], id[1], id[15] = byte(n>>8), byte(n), 7
		return id
	}
	for n := range rapid.IntRange(0, 30).Draw(rt, "movements") {
		b.movements = append(b.movements, journal.Movement{
			OrderID: payment.OrderID(drawnName.Draw(rt, "order")), AttemptID: payment.AttemptID(id(n / 3)), Account: drawnAccount.Draw(rt, "account"),
			PaymentID: drawnName.Draw(rt, "payment"), Moved: drawnTime.Draw(rt, "moved"),
			Movement: payment.Movement{Number: n, Kind: drawnKind.Draw(rt, "kind"), Money: payment.Money{Minor: drawnMinor.Draw(rt, "minor"), Currency: drawnCurrency.Draw(rt, "currency")}},
		})
	}
	optional := func(balance payment.Currency, minor int64) *payment.Money {
		if rapid.IntRange(0, 4).Draw(rt, "stated") == 0 {
			return nil
		}
		return &payment.Money{Minor: minor, Currency: balance}
	}
	for n := range rapid.IntRange(0, 30).Draw(rt, "settlements") {
		s := payment.Settlement{
			Account: drawnAccount.Draw(rt, "account"), EntryID: fmt.Sprint(drawnName.Draw(rt, "entry"), "/", n), OrderID: payment.OrderID(drawnName.Draw(rt, "order")),
			AttemptID: payment.AttemptID(id(n)), Kind: rapid.SampledFrom(payment.MovementKinds()).Draw(rt, "kind"), At: drawnTime.Draw(rt, "at"),
			Money: payment.Money{Minor: drawnMinor.Draw(rt, "minor"), Currency: drawnCurrency.Draw(rt, "currency")},
		}
		balance := s.Money.Currency
		if rapid.IntRange(0, 3).Draw(rt, "converted") == 0 {
			balance = drawnCurrency.Draw(rt, "balance")
		}
		s.Fee = optional(balance, rapid.Int64Range(-500, 500).Draw(rt, "fee"))
		s.Net = optional(balance, rapid.Int64Range(-1_000_000, 1_000_000).Draw(rt, "net"))
		b.settlements = append(b.settlements, s)
	}
	for n := range rapid.IntRange(0, 20).Draw(rt, "entries") {
		kinds := []string{
			string(payment.MovementCapture), string(payment.MovementRefund), string(payment.MovementAuthorization),
			string(payment.EntryFee), string(payment.EntryReserve), string(payment.EntryTransfer), string(payment.EntryAdjustment),
		}
		e := payment.AccountEntry{
			Account: drawnAccount.Draw(rt, "account"), EntryID: fmt.Sprint(drawnName.Draw(rt, "entry"), "//", n), Kind: rapid.SampledFrom(kinds).Draw(rt, "kind"),
			Payment: drawnName.Draw(rt, "payment"), At: drawnTime.Draw(rt, "at"),
		}
		balance := drawnCurrency.Draw(rt, "balance")
		e.Money = payment.Money{Minor: drawnMinor.Draw(rt, "minor"), Currency: balance}
		e.Fee, e.Net = optional(balance, 5), optional(balance, rapid.Int64Range(-1_000_000, 1_000_000).Draw(rt, "net"))
		b.entries = append(b.entries, e)
	}
	for n := range rapid.IntRange(0, 10).Draw(rt, "payouts") {
		b.payouts = append(b.payouts, drawnPayout(rt, id(n)))
	}
	return b
}

func drawnPayout(rt *rapid.T, id uuid.UUID) journal.Payout {
	at := drawnTime.Draw(rt, "day")
	p := journal.Payout{Day: at.Truncate(24 * time.Hour)}
	p.ID, p.Account, p.ProviderID = payment.PayoutID(id), drawnAccount.Draw(rt, "account"), drawnName.Draw(rt, "payout")+strings.Repeat("p", int(id[1]))
	p.Status = rapid.SampledFrom(append(payment.PayoutStatuses(), "")).Draw(rt, "status")
	p.UpdatedAt = at.Add(time.Duration(rapid.IntRange(0, 5).Draw(rt, "days")) * 24 * time.Hour)
	currencies := []payment.Currency{"EUR", "JPY"}
	if rapid.Bool().Draw(rt, "listed") {
		p.Money = &payment.Money{Minor: rapid.Int64Range(-1000, 1_000_000).Draw(rt, "amount"), Currency: "EUR"}
	}
	for _, c := range currencies[:rapid.IntRange(0, 2).Draw(rt, "sums")] {
		p.Sums = append(p.Sums, journal.PayoutSum{
			Currency: c, Entries: 2, Settled: rapid.Int64Range(-1000, 1_000_000).Draw(rt, "settled"), Others: rapid.Int64Range(-100, 100).Draw(rt, "others"),
		})
	}
	return p
}
