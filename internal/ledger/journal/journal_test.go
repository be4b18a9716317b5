package journal_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/internal/ledger/journal"
	"github.com/paylatch/paylatch/internal/payment"
)

// sums are amounts by account and currency.
type sums map[string]map[payment.Currency]int64

func (s sums) add(account string, m payment.Money) {
	if s[account] == nil {
		s[account] = map[payment.Currency]int64{}
	}
	s[account][m.Currency] += m.Minor
}

// under is the sum of all accounts with a beginning, without what is 0.
func (s sums) under(prefix string) map[payment.Currency]int64 {
	all := map[payment.Currency]int64{}
	for account, of := range s {
		if strings.HasPrefix(account, prefix) {
			for c, minor := range of {
				all[c] += minor
			}
		}
	}
	return nonzero(all)
}

func nonzero(all map[payment.Currency]int64) map[payment.Currency]int64 {
	for c, minor := range all {
		if minor == 0 {
			delete(all, c)
		}
	}
	return all
}

// written is the journal of October in a format.
func written(t require.TestingT, b *book, f journal.Format) string {
	var out bytes.Buffer
	w, err := journal.NewWriter(&out, f)
	require.NoError(t, err)
	ctx := contextOf(t)
	require.NoError(t, journal.Journal{Store: b, Month: october}.Each(ctx, w.Write))
	require.NoError(t, w.Close())
	return out.String()
}

// TestAnyMonthBalances: the postings of each transaction, and so of each day, sum to zero in each currency; the accounts have what the
// ledger has; every entry of the books is in the journal by its name; and a second journal is the same.
func TestAnyMonthBalances(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		b := drawnBook(rt)
		got, days, named := sums{}, map[time.Time]sums{}, map[string]int{}
		var last time.Time
		require.NoError(rt, journal.Journal{Store: b, Month: october}.Each(rt.Context(), func(one journal.Transaction) error {
			require.False(rt, one.Date.Before(last), "in the order of the days")
			last = one.Date
			require.Equal(rt, october, journal.MonthOf(one.Date))
			if days[one.Date] == nil {
				days[one.Date] = sums{}
			}
			whole := sums{}
			for _, p := range one.Postings {
				require.NotZero(rt, p.Money.Minor)
				got.add(p.Account, p.Money)
				days[one.Date].add("", p.Money)
				whole.add("", p.Money)
			}
			require.Empty(rt, whole.under(""), "%+v", one)
			named[one.Account+" "+one.Entry]++
			return nil
		}))
		for day, of := range days {
			require.Empty(rt, of.under(""), day)
		}
		agrees(rt, b, got)
		for _, s := range b.settlements {
			require.Equal(rt, within(s.BookedAt()), named[s.Account+" "+s.EntryID] > 0, s.EntryID)
		}
		for _, e := range b.entries {
			require.Equal(rt, within(e.BookedAt()), named[e.Account+" "+e.EntryID] > 0, e.EntryID)
		}
		for _, f := range []journal.Format{journal.HLedger, journal.CSV, journal.JSON} {
			first := written(rt, b, f)
			require.Equal(rt, first, written(rt, b, f))
		}
	})
}

func within(t time.Time) bool { return journal.MonthOf(t) == october }

// agrees compares the accounts with what the ledger says about each kind.
func agrees(rt *rapid.T, b *book, got sums) {
	want := sums{}
	for _, m := range b.movements {
		if within(m.Moved) {
			account := map[payment.MovementKind]string{
				payment.MovementCapture: journal.Sales, payment.MovementCaptureReversal: journal.Sales, payment.MovementRefund: journal.Refunds,
				payment.MovementRefundReversal: journal.Refunds, payment.MovementChargeback: journal.Chargebacks, payment.MovementChargebackReversal: journal.Chargebacks,
			}[m.Kind]
			money := m.Money
			if m.Kind == payment.MovementCapture || m.Kind == payment.MovementRefundReversal || m.Kind == payment.MovementChargebackReversal {
				money.Minor = -money.Minor
			}
			want.add(account, money)
		}
	}
	for _, s := range b.settlements {
		if within(s.BookedAt()) && s.Fee != nil {
			want.add("fees", *s.Fee)
		}
	}
	for _, e := range b.entries {
		switch {
		case !within(e.BookedAt()):
		case e.Net != nil && e.Kind == string(payment.EntryFee):
			want.add("fees", payment.Money{Minor: -e.Net.Minor, Currency: e.Net.Currency})
		case e.Net == nil && e.Fee != nil:
			want.add("fees", *e.Fee)
		}
	}
	for _, p := range b.payouts {
		back, returned := p.Returned()
		for _, m := range p.Moneys() {
			if within(p.Day) {
				want.add("bank", m)
			}
			if returned && within(back) {
				want.add("bank", payment.Money{Minor: -m.Minor, Currency: m.Currency})
			}
		}
	}
	for _, account := range []string{journal.Sales, journal.Refunds, journal.Chargebacks} {
		require.Equal(rt, want.under(account), got.under(account), account)
	}
	require.Equal(rt, want.under("fees"), got.under("expenses:fees:"))
	require.Equal(rt, want.under("bank"), got.under(journal.Bank))
}

// TestMoreThanAPage: the rows of one moment that fill more than a page are all there, once.
func TestMoreThanAPage(t *testing.T) {
	t.Parallel()
	b := &book{}
	const rows = 12_345
	for n := range rows {
		b.movements = append(b.movements, journal.Movement{
			AttemptID: payment.AttemptID(uuid.UUID{byte(n >> 8), byte(n)}), Account: "a", Moved: october.From().Add(time.Hour),
			Movement: payment.Movement{Number: 1, Kind: payment.MovementCapture, Money: payment.Money{Minor: 1, Currency: "EUR"}},
		})
	}
	seen := map[string]bool{}
	require.NoError(t, journal.Journal{Store: b, Month: october}.Each(t.Context(), func(one journal.Transaction) error {
		require.False(t, seen[one.ID])
		seen[one.ID] = true
		return nil
	}))
	require.Len(t, seen, rows)
}

// sample is a ledger with one row of each kind.
func sample() *book {
	euros := func(minor int64) *payment.Money { return &payment.Money{Minor: minor, Currency: "EUR"} }
	at := func(day int) time.Time { return time.Date(2026, 10, day, 9, 0, 0, 0, time.UTC) }
	attempt := payment.AttemptID(uuid.MustParse("00000000-0000-7000-8000-0000000000a1"))
	p := journal.Payout{Day: time.Date(2026, 10, 7, 0, 0, 0, 0, time.UTC), Sums: []journal.PayoutSum{{Currency: "EUR", Entries: 2, Settled: 1911, Others: -100}}}
	p.ID, p.Account, p.ProviderID, p.Money, p.Status = payment.PayoutID(uuid.Max), "stripe-eu", "po_1", euros(1800), payment.PayoutInTransit
	return &book{
		movements: []journal.Movement{
			{
				OrderID: "A-1", AttemptID: attempt, Account: "stripe-eu", PaymentID: "pi_1", Moved: at(3),
				Movement: payment.Movement{Number: 1, Kind: payment.MovementCapture, Money: *euros(1999)},
			},
			{
				OrderID: "A,2", AttemptID: attempt, Account: "stripe-eu", PaymentID: "pi_2", Moved: at(4),
				Movement: payment.Movement{Number: 2, Kind: payment.MovementChargeback, Money: payment.Money{Minor: 1500, Currency: "BHD"}},
			},
		},
		settlements: []payment.Settlement{{
			Account: "stripe-eu", EntryID: "txn_1", OrderID: "A-1", AttemptID: attempt, Kind: payment.MovementCapture, Payment: "pi_1", Money: *euros(1999), Fee: euros(88), Net: euros(1911),
			PayoutID: "po_1", At: at(3),
		}},
		entries: []payment.AccountEntry{
			{Account: "stripe-eu", EntryID: "txn_2", Kind: "fee", Net: euros(-100), PayoutID: "po_1", At: at(5)},
			{Account: "stripe-eu", EntryID: "txn_3", Kind: "capture", Payment: "pi_9", Net: &payment.Money{Minor: 500, Currency: "JPY"}, At: at(5)},
		},
		payouts: []journal.Payout{p},
	}
}

// TestTheFormats shows each format.
func TestTheFormats(t *testing.T) {
	t.Parallel()
	const capture = `
account assets:provider:stripe-eu:receivable

commodity 0.00 EUR

account income:sales

2026-10-03 * (00000000-0000-7000-8000-0000000000a1/1) capture  ; order:A-1, attempt:00000000-0000-7000-8000-0000000000a1, payment:pi_1
    assets:provider:stripe-eu:receivable                       19.99 EUR
    income:sales                                              -19.99 EUR
`
	text := written(t, sample(), journal.HLedger)
	require.Contains(t, text, capture)
	for _, want := range []string{
		"order:A%2C2,", "1.500 BHD\n", "500 JPY\n", "commodity 0. JPY\n", "; payment:pi_9, entry:txn_3\n",
		"2026-10-07 ! (" + uuid.Max.String() + ") payout  ; payout:po_1\n" +
			"    assets:bank:payouts                                        18.00 EUR\n" +
			"    assets:provider:stripe-eu:balance                         -18.11 EUR\n" +
			"    equity:unexplained                                          0.11 EUR\n",
	} {
		require.Contains(t, text, want)
	}
	lines, err := csv.NewReader(strings.NewReader(written(t, sample(), journal.CSV))).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{
		"2026-10-03", "00000000-0000-7000-8000-0000000000a1/1", "posted", "capture", "income:sales", "-19.99", "EUR", "A-1",
		"00000000-0000-7000-8000-0000000000a1", "pi_1", "", "",
	}, lines[2])
	require.Len(t, lines, 1+2+3+2+2+2+3)
	var objects []map[string]any
	for line := range strings.Lines(written(t, sample(), journal.JSON)) {
		var one map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &one))
		objects = append(objects, one)
	}
	require.Len(t, objects, 6)
	require.Equal(t, "A,2", objects[2]["order_id"], "ids are whole in JSON")
	require.Equal(t, map[string]any{"account": "income:sales", "amount": -1999.0, "currency": "EUR"}, objects[0]["postings"].([]any)[1])
	_, err = journal.NewWriter(&bytes.Buffer{}, "xml")
	require.Error(t, err)
}

// TestAFailedPayoutComesBack: the month in which it left stays as it was, also for a report of cleared transactions.
func TestAFailedPayoutComesBack(t *testing.T) {
	t.Parallel()
	b := sample()
	b.payouts[0].Status, b.payouts[0].UpdatedAt = payment.PayoutFailed, time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC)
	texts := func(m journal.Month) (all []string) {
		require.NoError(t, journal.Journal{Store: b, Month: m}.Each(t.Context(), func(one journal.Transaction) error {
			if one.Payout != "" && one.Entry == "" {
				mark := map[bool]string{true: "! ", false: ""}[one.Pending]
				all = append(all, mark+one.Date.Format(time.DateOnly)+" "+one.Text+" "+strconv.FormatInt(one.Postings[0].Money.Minor, 10))
			}
			return nil
		}))
		return all
	}
	require.Equal(t, []string{"2026-10-07 payout 1800"}, texts(october))
	require.Equal(t, []string{"2026-11-02 payout returned 1800"}, texts(october.Next()))
	for status, pending := range map[payment.PayoutStatus]bool{
		"": false, payment.PayoutPending: true, payment.PayoutInTransit: true, payment.PayoutPaid: false, payment.PayoutCanceled: false,
	} {
		b.payouts[0].Status = status
		require.Equal(t, pending, strings.HasPrefix(texts(october)[0], "! "), status)
	}
	b.payouts[0].Status = payment.PayoutFailed

	// The next payout has the money again.
	at := func(day int) time.Time { return time.Date(2026, 11, day, 9, 0, 0, 0, time.UTC) }
	euros := func(minor int64) *payment.Money { return &payment.Money{Minor: minor, Currency: "EUR"} }
	b.settlements = append(b.settlements, payment.Settlement{
		Account: "stripe-eu", EntryID: "txn_5", Kind: payment.MovementCapture, Payment: "pi_1", Money: *euros(500), Net: euros(500), PayoutID: "po_2", At: at(5),
	})
	b.entries = append(b.entries, payment.AccountEntry{Account: "stripe-eu", EntryID: "txn_4", Kind: "payout_return", Net: euros(1800), PayoutID: "po_2", At: at(2)})
	next := journal.Payout{Day: at(9).Truncate(24 * time.Hour), Sums: []journal.PayoutSum{{Currency: "EUR", Entries: 2, Settled: 500, Others: 1800}}}
	next.Account, next.ProviderID, next.Money, next.Status = "stripe-eu", "po_2", euros(2300), payment.PayoutPaid
	b.payouts = append(b.payouts, next)
	require.Equal(t, []string{"2026-11-02 payout returned 1800", "2026-11-09 payout 2300"}, texts(october.Next()))
	sums := map[string]int64{}
	for _, m := range []journal.Month{october, october.Next()} {
		require.NoError(t, journal.Journal{Store: b, Month: m}.Each(t.Context(), func(one journal.Transaction) error {
			for _, p := range one.Postings {
				if p.Money.Currency == "EUR" {
					sums[p.Account] += p.Money.Minor
				}
			}
			return nil
		}))
	}
	require.Zero(t, sums["assets:provider:stripe-eu:balance"])
	require.EqualValues(t, 2300, sums["assets:bank:payouts"])
	require.EqualValues(t, 11, sums["equity:unexplained"], "the rest of the first payout")
	require.Zero(t, journal.Entered("stripe-eu", "payout_return", *euros(1800), 1800, 1).Net)
}

func TestParseMonth(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"2026-10": "", "2026-11": "", "1999-12": "", "2026-13": "write the year and the month, such as 2026-10", "2026-1": "is not a month", "October": "is not a month", "": "is not a month",
		"2026-10-01": "is not a month", "2026-12": "has not begun: the latest is 2026-11", "0001-01": "is not a month",
	} {
		m, err := journal.ParseMonth(text, now)
		if want == "" {
			require.NoError(t, err, text)
			require.Equal(t, text, m.String())
			require.Equal(t, m, m.Next().Previous())
			continue
		}
		require.ErrorContains(t, err, want, text)
	}
	require.Len(t, october.Days(), 31)
}

// TestASumAddsUp: what was captured less all that was taken is the net, apart from what is not booked.
// daySums is a store that has only the sums of days, by their beginning.
type daySums struct {
	journal.Store

	at map[string][]journal.Sum
}

func (s daySums) Sums(_ context.Context, from, to time.Time) ([]journal.Sum, error) {
	if to.Sub(from) != 24*time.Hour {
		return nil, nil
	}
	return s.at[from.UTC().Format(time.RFC3339)], nil
}

// A day begins at a midnight of its own time zone, has all stores, and is summed up by currency.
func TestDay(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	const begins = "2026-11-27T23:00:00Z"
	c := journal.Closing{Stores: []journal.Store{
		daySums{at: map[string][]journal.Sum{begins: {{Account: "b", Currency: "EUR", Captured: 5, Net: 4}, {Account: "a", Currency: "EUR", Captured: 7}}}},
		daySums{at: map[string][]journal.Sum{begins: {{Account: "a", Currency: "EUR", Refunded: 2}, {Account: "a", Currency: "JPY", Captured: 9}}, "2026-11-28T00:00:00Z": {{Account: "c"}}}},
	}}
	begin := time.Date(2026, 11, 28, 0, 0, 0, 0, zone)
	day, err := c.Between(t.Context(), begin, begin.AddDate(0, 0, 1))
	require.NoError(t, err)
	require.Equal(t, []journal.Sum{
		{Account: "a", Currency: "EUR", Captured: 7, Refunded: 2}, {Account: "a", Currency: "JPY", Captured: 9}, {Account: "b", Currency: "EUR", Captured: 5, Net: 4},
	}, day)
	require.Equal(t, []journal.Sum{{Currency: "EUR", Captured: 12, Refunded: 2, Net: 4}, {Currency: "JPY", Captured: 9}}, journal.Totals(day))
}

func TestASumAddsUp(t *testing.T) {
	t.Parallel()
	s := journal.Moved("a", payment.MovementCapture, payment.Money{Minor: 1000, Currency: "EUR"})
	for _, o := range []journal.Sum{
		journal.Moved("a", payment.MovementRefund, payment.Money{Minor: 200, Currency: "EUR"}),
		journal.Moved("a", payment.MovementRefundReversal, payment.Money{Minor: 50, Currency: "EUR"}),
		journal.Moved("a", payment.MovementChargeback, payment.Money{Minor: 100, Currency: "EUR"}),
		{Account: "a", Currency: "EUR", Fees: 30, Net: 720, PaidOut: 600},
		journal.Entered("a", "fee", payment.Money{Minor: -7, Currency: "EUR"}, -7, 1),
		journal.Entered("a", "reserve", payment.Money{Minor: -100, Currency: "EUR"}, 0, 1),
		journal.Entered("a", "transfer", payment.Money{Minor: -40, Currency: "EUR"}, 0, 1),
		journal.Entered("a", "capture", payment.Money{Minor: 11, Currency: "EUR"}, 0, 2),
	} {
		s = s.Plus(o)
	}
	require.Equal(t, journal.Sum{
		Account: "a", Currency: "EUR", Captured: 1000, Refunded: 150, ChargedBack: 100, Fees: 37, Net: 584, PaidOut: 593, Reserved: 100, Transferred: 40,
		Unexplained: 11, UnexplainedEntries: 2,
	}, s)
	require.Zero(t, s.NotBooked())
	require.EqualValues(t, -9, s.Open())
}
