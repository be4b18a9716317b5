package console

import (
	"context"
	"net/url"
	"time"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/finder"
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
	Between(ctx context.Context, from, to time.Time) ([]journal.Sum, error)
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
	// Yesterday is the page of the day before today.
	Yesterday string
}

// period is the time of a table of sums. Month is the zero Month for a day.
type period struct {
	Month journal.Month
	// Day is the midnight at which a day begins, in the shop's time zone.
	Day time.Time
}

// list is the address of a list of the objects that were created in the time at an account. The lists read a day in the shop's time
// zone. A month is one of UTC, so its address has times.
func (p period) list(path string, s journal.Sum) string {
	from, to := p.Day.Format(time.DateOnly), p.Day.Format(time.DateOnly)
	if p.Month != (journal.Month{}) {
		from, to = p.Month.From().Format(time.RFC3339), p.Month.To().Format(time.RFC3339)
	}
	return path + "?" + url.Values{
		"account": {s.Account}, "currency": {string(s.Currency)}, "created_from": {from}, "created_to": {to},
	}.Encode()
}

// entries is the address of the entries of an account in the time.
func (p period) entries(account string) string {
	q := url.Values{"account": {account}}
	if p.Month != (journal.Month{}) {
		q.Set("month", p.Month.String())
	} else {
		q.Set("day", p.Day.Format(time.DateOnly))
	}
	return entriesPath + "?" + q.Encode()
}

// dayView is the content of the page of a day.
type dayView struct {
	Frame
	period

	Sums []journal.Sum
	Zone string
	// Over is set once the day is over.
	Over bool
}

// dayIn reads a day of the shop's time zone. It returns a payment.ValidationError.
func (v *visit) dayIn(text string) (time.Time, error) {
	date, err := time.Parse(time.DateOnly, text)
	day := dayOf(date, v.Clocks.Location(), 0)
	if err != nil || day.After(v.Now()) || day.Year() < 1970 {
		return time.Time{}, payment.Invalid("day", "must be a day that has begun, such as 2026-03-01")
	}
	return day, nil
}

// dayOf returns when a calendar day begins in a zone, or a day some days later.
func dayOf(date time.Time, zone *time.Location, later int) time.Time {
	y, m, d := date.Date()
	return finder.StartOfDay(time.Date(y, m, d, 12, 0, 0, 0, zone), later) //nolint:mnd // noon, which each day has
}

// yesterday is the page of the shop's day before today.
func (v *visit) yesterday() string {
	return dayAt(finder.StartOfDay(v.Now().In(v.Clocks.Location()), -1))
}

// showDay sums a day up.
func (v *visit) showDay() error {
	day, err := v.dayIn(v.Query("day"))
	if err != nil {
		return err
	}
	view := dayView{
		Frame: v.Frame(day.Format("Monday, 2 January 2006")), period: period{Day: day}, Zone: v.Clocks.Location().String(),
		Over: !v.Now().Before(finder.StartOfDay(day, 1)),
	}
	err = v.AuditLog.Watch(v.R.Context(), v.Who, support.ViewedMonth, "day", v.Query("day"), func() (err error) {
		view.Sums, err = v.Months.Between(authz.WithReader(v.R.Context(), v.Who.Reader()), day, finder.StartOfDay(day, 1))
		return err
	})
	if err != nil {
		return err
	}
	return v.Show(dayPage(view))
}

// showMonth shows a day or a month; without one the last month that is over.
func (v *visit) showMonth() error {
	if v.R.URL.Query().Has("day") {
		return v.showDay()
	}
	view := monthView{Frame: v.Frame(monthTitle), Yesterday: v.yesterday()}
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
	Payout *payment.Payout
	Month  journal.Month
	// Day is zero on other pages than that of a day.
	Day     time.Time
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
	if text := v.Query("day"); text != "" {
		day, err := v.dayIn(text)
		if err != nil {
			return err
		}
		view.Day = day
		params["created_from"], params["created_to"] = day.UTC().Format(time.RFC3339), finder.StartOfDay(day, 1).UTC().Format(time.RFC3339)
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

// dayAt is the page of a day.
func dayAt(day time.Time) string { return monthPath + "?day=" + day.Format(time.DateOnly) }

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
		return []string{"No entry of the provider's books names this payout."}
	case p.Money == nil:
		return []string{"The provider states no amount. The amount shown is the sum of " + counted(n, "entry", "entries") + "."}
	case others == 0 && p.Rest() == 0:
		return []string{"The amount is the sum of " + counted(n, "entry", "entries") + "."}
	}
	texts := []string{amount.In(p.Money.Currency, settled) + " from payments that paylatch has."}
	if others != 0 {
		texts = append(texts, amount.In(p.Money.Currency, others)+" from entries without a payment in paylatch.")
	}
	if rest := p.Rest(); rest != 0 {
		texts = append(texts, amount.In(p.Money.Currency, rest)+" not explained by any entry.")
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
