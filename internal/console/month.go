package console

import (
	"context"
	"net/url"
	"time"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/ledger/journal"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/amount"
)

// The page of a month shows finance what was captured, taken back and paid out, by account and currency, and whether each payout is
// explained by its entries. Another page lists the entries of a payout, or of an account's month.

// Months sums months up; journal.Closing in the program.
type Months interface {
	Close(ctx context.Context, m journal.Month) (journal.Close, error)
	EntriesOf(ctx context.Context, account, payout string) (list []payment.AccountEntry, more bool, err error)
}

// Books lists the entries of the books; *lists.Service in the program.
type Books interface {
	Settlements(ctx context.Context, actor authz.Actor, q lists.Query) (lists.Page[payment.Settlement], error)
	Payout(ctx context.Context, actor authz.Actor, id payment.PayoutID) (payment.Payout, error)
}

const (
	monthPath   = "/support/month"
	entriesPath = "/support/entries"
	monthTitle  = "Month"
)

// monthView is the content of the page of a month.
type monthView struct {
	Frame
	journal.Close

	// Over is set once the month is over.
	Over bool
}

// showMonth shows a month; without one the last month that is over.
func (v *visit) showMonth() error {
	view := monthView{Frame: v.Frame(monthTitle)}
	view.Month = journal.MonthOf(v.Now()).Previous()
	if text := v.Query("month"); text != "" {
		m, err := journal.ParseMonth(text, v.Now())
		if err != nil {
			return payment.Invalid("month", err.Error())
		}
		view.Month = m
	}
	view.Over = !v.Now().Before(view.Month.To())
	view.Title = monthName(view.Month)
	err := v.AuditLog.Watch(v.R.Context(), v.Who, support.ViewedMonth, "month", view.Month.String(), func() (err error) {
		view.Close, err = v.Months.Close(authz.WithReader(v.R.Context(), v.Who.Reader()), view.Month)
		return err
	})
	if err != nil {
		return err
	}
	return v.Show(monthPage(view))
}

// entriesView is the content of the page of a payout's entries, or of an account's month.
type entriesView struct {
	Frame
	Account string
	// Payout is nil on the page of a month.
	Payout  *payment.Payout
	Month   journal.Month
	List    []payment.Settlement
	Others  []payment.AccountEntry
	More    bool
	Further string
}

// showEntries shows the settlements of a payout and its entries without a payment, or the settlements of an account's month.
func (v *visit) showEntries() error {
	view := entriesView{Frame: v.Frame("Entries of the books"), Account: v.Query("account")}
	params := map[string]string{"account": view.Account, "payout_id": v.Query("payout_id"), "cursor": v.Query("cursor")}
	if text := v.Query("month"); text != "" {
		m, err := journal.ParseMonth(text, v.Now())
		if err != nil {
			return payment.Invalid("month", err.Error())
		}
		view.Month = m
		params["created_from"], params["created_to"] = m.From().Format(time.RFC3339), m.To().Format(time.RFC3339)
	}
	q, err := lists.Parse(lists.Settlements, params)
	if err != nil {
		return err
	}
	ctx := v.R.Context()
	err = v.AuditLog.Watch(ctx, v.Who, support.ViewedSettlements, "filter", v.R.URL.RawQuery, func() error {
		if q.Payout != (payment.PayoutID{}) {
			p, err := v.Books.Payout(ctx, v.Who.Actor, q.Payout)
			if err != nil {
				return err
			}
			view.Payout, view.Account = &p, p.Account
			ctx := authz.WithReader(ctx, v.Who.Reader())
			if view.Others, view.More, err = v.Months.EntriesOf(ctx, p.Account, p.ProviderID); err != nil {
				return err
			}
		}
		page, err := v.Books.Settlements(ctx, v.Who.Actor, q)
		view.List, view.Further = page.Items, v.Further(page.Next)
		return err
	})
	if err != nil {
		return err
	}
	return v.Show(entriesPage(view))
}

func monthName(m journal.Month) string { return m.From().Format("January 2006") }

// monthAt is the page of a month.
func monthAt(m journal.Month) string { return monthPath + "?month=" + m.String() }

// entriesOfPayout is the page of a payout's entries.
func entriesOfPayout(id payment.PayoutID) string { return entriesPath + "?payout_id=" + id.String() }

// entriesOfMonth is the page of the entries of an account's month.
func entriesOfMonth(account string, m journal.Month) string {
	return entriesPath + "?" + url.Values{"account": {account}, "month": {m.String()}}.Encode()
}

// listOfMonth is a list with what was created in a month at an account.
func listOfMonth(path string, s journal.Sum, m journal.Month) string {
	last := m.To().AddDate(0, 0, -1)
	return path + "?" + url.Values{
		"account": {s.Account}, "currency": {string(s.Currency)},
		"created_from": {m.From().Format(time.DateOnly)}, "created_to": {last.Format(time.DateOnly)},
	}.Encode()
}

// payoutStatus is the status of a payout in words.
func payoutStatus(s payment.PayoutStatus) string {
	if s == "" {
		return "not stated"
	}
	return words(string(s))
}

// explanation says which entries a payout consists of, to the minor unit, and names the difference.
func explanation(p journal.Payout) []string {
	n, settled, others := p.Entries()
	switch {
	case n == 0:
		return []string{"No entry of the books names it."}
	case p.Money == nil:
		return []string{"The provider states no amount: this is the sum of " + counted(n, "entry", "entries") + "."}
	case others == 0 && p.Rest() == 0:
		return []string{"Explained by " + counted(n, "entry", "entries") + "."}
	}
	texts := []string{amount.In(p.Money.Currency, settled) + " of payments recorded here."}
	if others != 0 {
		texts = append(texts, amount.In(p.Money.Currency, others)+" of entries without a payment recorded here.")
	}
	if rest := p.Rest(); rest != 0 {
		texts = append(texts, amount.In(p.Money.Currency, rest)+" that no entry has.")
	}
	return texts
}

// entryAmount is the net of an entry, or else its amount.
func entryAmount(e payment.AccountEntry) string {
	switch {
	case e.Net != nil:
		return amount.Of(*e.Net)
	case e.Money.Currency != "":
		return amount.Of(e.Money)
	}
	return "not stated"
}

// optional is an amount that may not be stated.
func optional(m *payment.Money) string {
	if m == nil {
		return "–"
	}
	return amount.Of(*m)
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
