package console

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/ledger/journal"
	"github.com/paylatch/paylatch/internal/payment"
)

// A payout is explained to the minor unit, or its difference is named.
func TestAPayoutsExplanation(t *testing.T) {
	t.Parallel()
	sum := func(entries, settled, others int64) []journal.PayoutSum {
		return []journal.PayoutSum{{Currency: "EUR", Entries: entries, Settled: settled, Others: others}}
	}
	for name, tc := range map[string]struct {
		minor int64
		sums  []journal.PayoutSum
		want  []string
	}{
		"whole":             {1911, sum(3, 1911, 0), []string{"The amount is the sum of 3 entries."}},
		"one entry":         {-5, sum(1, -5, 0), []string{"The amount is the sum of 1 entry."}},
		"no entry":          {1911, nil, []string{"No entry of the provider's books names this payout."}},
		"a cent more":       {1912, sum(3, 1911, 0), []string{"€19.11 from payments that paylatch has.", "€0.01 not explained by any entry."}},
		"a fee":             {1886, sum(3, 1911, -25), []string{"€19.11 from payments that paylatch has.", "-€0.25 from entries without a payment in paylatch."}},
		"both":              {1885, sum(3, 1911, -25), []string{"€19.11 from payments that paylatch has.", "-€0.25 from entries without a payment in paylatch.", "-€0.01 not explained by any entry."}},
		"another currency":  {500, []journal.PayoutSum{{Currency: "USD", Entries: 1, Settled: 500}}, []string{"€0.00 from payments that paylatch has.", "€5.00 not explained by any entry."}},
		"they cancel out":   {0, sum(2, 25, -25), []string{"€0.25 from payments that paylatch has.", "-€0.25 from entries without a payment in paylatch."}},
		"a negative payout": {-500, sum(1, -499, 0), []string{"-€4.99 from payments that paylatch has.", "-€0.01 not explained by any entry."}},
	} {
		p := journal.Payout{Sums: tc.sums}
		p.Money = &payment.Money{Minor: tc.minor, Currency: "EUR"}
		require.Equal(t, tc.want, explanation(p), name)
	}
	unlisted := journal.Payout{Sums: sum(2, 1000, 1)}
	require.Equal(t, []string{"The provider states no amount. The amount shown is the sum of 2 entries."}, explanation(unlisted))
	require.Equal(t, "€10.01", sums(unlisted.Moneys()))
	require.Equal(t, "not stated", payoutStatus(unlisted.Status))
	require.Equal(t, "in transit", payoutStatus(payment.PayoutInTransit))
}

// The lists that a page of sums links to are of the page's own instants, in any time zone of the shop: a month is of UTC, a day of
// the zone.
func TestTheListsOfAMonthAreOfItsInstants(t *testing.T) {
	t.Parallel()
	month, err := journal.ParseMonth("2026-03", time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC))
	require.NoError(t, err)
	for _, name := range []string{"UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago", "America/New_York", "Asia/Kolkata"} {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		first := time.Date(2026, 3, 1, 0, 0, 0, 0, zone)
		for _, c := range []struct {
			period   period
			from, to time.Time
		}{
			{period{Month: month}, month.From(), month.To()},
			{period{Day: first}, first, first.AddDate(0, 0, 1)},
		} {
			address, err := url.Parse(c.period.list("/support/payments", journal.Sum{Account: "acc", Currency: "EUR"}))
			require.NoError(t, err)
			f := readForm(address.Query())
			q, err := f.query(lists.Attempts, "", zone)
			require.NoError(t, err)
			require.True(t, c.from.Equal(q.CreatedFrom), "%s: from %s", name, q.CreatedFrom)
			require.True(t, c.to.Equal(q.CreatedTo), "%s: to %s", name, q.CreatedTo)
			require.Equal(t, c.period.Month != (journal.Month{}), dateInput(f.CreatedFrom) == "text", "an input of days would drop a time")
		}
	}
}
