package overview_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/overview"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestPlus(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 9, 59, 59, 0, time.UTC)
	hour := func(n int) time.Time { return time.Date(2026, 3, 1, n, 0, 0, 0, time.UTC) }
	eur := func(n int64) payment.Money { return payment.Money{Minor: n, Currency: "EUR"} }
	usd := payment.Money{Minor: 7, Currency: "USD"}
	a := overview.Overview{
		At: at, Uncounted: 1,
		Hours: []overview.Hour{
			{From: hour(8), Succeeded: 90}, {From: hour(9), Succeeded: 1, Failed: 2, Cancelled: 3, Volume: []payment.Money{eur(100)}},
		},
		Accounts:   []overview.Approval{{Name: "home", Day: overview.Share{Succeeded: 1, Ended: 2}}},
		Currencies: []overview.Approval{{Name: "EUR", Day: overview.Share{Succeeded: 1, Ended: 1}}},
		Unknown: overview.Unknown{Total: 1, Oldest: at.Add(-time.Minute), Accounts: []overview.UnknownOf{
			{Account: "home", Ages: map[overview.Band]int64{overview.UnderMinute: 1}},
		}},
		Cases:     []overview.Cases{{Kind: "disputed", Count: 5, Oldest: time.Hour}},
		Refunds:   overview.Refunds{Succeeded: 1, Failed: 2, Pending: 3, Sums: []payment.Money{eur(5)}},
		Silent:    []intake.StaleAccount{{Account: "home", Pending: 2}},
		Standing:  []overview.Standing{{Account: "home", Breaker: overview.HalfOpen}, {Account: "of both", Breaker: overview.Closed, Held: true}},
		Endpoints: []overview.Endpoint{{Name: "shop", Behind: 1, Retries: 2, Dead: 3, Oldest: time.Minute}},
	}
	b := overview.Overview{
		At: at.Add(2 * time.Second), Uncounted: 2,
		Hours: []overview.Hour{
			{From: hour(9), Succeeded: 10, Failed: 20, Cancelled: 30, Volume: []payment.Money{eur(1), usd}}, {From: hour(10), Failed: 4},
		},
		Accounts:   []overview.Approval{{Name: "eu", Day: overview.Share{Succeeded: 3, Ended: 3}}},
		Currencies: []overview.Approval{{Name: "EUR", Day: overview.Share{Succeeded: 0, Ended: 3}}},
		Unknown: overview.Unknown{Total: 2, Oldest: at.Add(-time.Hour), More: true, Accounts: []overview.UnknownOf{
			{Account: "home", Ages: map[overview.Band]int64{overview.UnderMinute: 1, overview.Older: 1}},
		}},
		Cases:     []overview.Cases{{Kind: "late_success", Count: 1, Oldest: 3 * time.Hour}, {Kind: "disputed", Count: 2, Oldest: 2 * time.Hour}},
		Refunds:   overview.Refunds{Succeeded: 10, Failed: 20, Pending: 30, Sums: []payment.Money{eur(5), usd}},
		Silent:    []intake.StaleAccount{{Account: "eu", Pending: 1}},
		Standing:  []overview.Standing{{Account: "of both", Breaker: overview.Open}},
		Endpoints: []overview.Endpoint{{Name: "shop", Gone: true, Behind: 10, Retries: 20, Dead: 30, Oldest: time.Hour}},
	}
	want := overview.Overview{
		At: at, Uncounted: 3,
		Hours: []overview.Hour{
			{From: hour(9), Succeeded: 11, Failed: 22, Cancelled: 33, Volume: []payment.Money{eur(101), usd}}, {From: hour(10), Failed: 4},
		},
		Accounts:   []overview.Approval{b.Accounts[0], a.Accounts[0]},
		Currencies: []overview.Approval{{Name: "EUR", Day: overview.Share{Succeeded: 1, Ended: 4}}},
		Unknown: overview.Unknown{Total: 3, Oldest: at.Add(-time.Hour), More: true, Accounts: []overview.UnknownOf{
			{Account: "home", Ages: map[overview.Band]int64{overview.UnderMinute: 2, overview.UnderTenMinutes: 0, overview.UnderHour: 0, overview.UnderDay: 0, overview.Older: 1}},
		}},
		Cases:     []overview.Cases{{Kind: "late_success", Count: 1, Oldest: 3 * time.Hour}, {Kind: "disputed", Count: 7, Oldest: 2 * time.Hour}},
		Refunds:   overview.Refunds{Succeeded: 11, Failed: 22, Pending: 33, Sums: []payment.Money{eur(10), usd}},
		Silent:    []intake.StaleAccount{b.Silent[0], a.Silent[0]},
		Standing:  []overview.Standing{a.Standing[0], {Account: "of both", Breaker: overview.Open, Held: true}},
		Endpoints: []overview.Endpoint{{Name: "shop", Gone: true, Behind: 11, Retries: 22, Dead: 33, Oldest: time.Hour}},
	}
	require.Equal(t, want, a.Plus(b))
	require.Equal(t, want, b.Plus(a))
	rate, _ := a.Plus(b).Currencies[0].Day.Rate()
	require.InDelta(t, 0.25, rate, 0, "of the sums: the mean of 1 and 0 would be 0.5")
	require.Equal(t, int64(1), a.Hours[1].Succeeded, "what is added up stays as it was")
}
