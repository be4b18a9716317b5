package console

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/overview"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234", -123: "-123"} {
		require.Equal(t, want, todayNumber(n))
	}
}

// TestPercent: a rate is rounded down, so that only all are 100 %.
func TestPercent(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]overview.Share{
		"–": {}, "100.0 %": {Succeeded: 3, Ended: 3}, "99.9 %": {Succeeded: 99999, Ended: 100000}, "66.6 %": {Succeeded: 2, Ended: 3}, "0.0 %": {Ended: 3},
	} {
		require.Equal(t, want, percent(s))
	}
}

func TestChange(t *testing.T) {
	t.Parallel()
	of := func(now, before int64) overview.Approval {
		return overview.Approval{Day: overview.Share{Succeeded: now, Ended: 1000}, Before: overview.Share{Succeeded: before, Ended: 1000}}
	}
	for want, a := range map[string]overview.Approval{
		"▲ 1.5 points above": of(965, 950), "▼ 40.0 points below": of(550, 950), "as before": of(954, 950), "too few to compare": {},
	} {
		require.Equal(t, want, change(a))
	}
	require.Equal(t, "as before; 95.0 % in the week before", compared(of(954, 950)))
	require.Equal(t, "too few to compare", compared(overview.Approval{}))
}

func TestWords(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	last := now.Add(-3 * time.Hour)
	require.Equal(t, "1 payment waits for a webhook, the first for 90 min; no webhook has ever arrived.", todayStale(intake.StaleAccount{Pending: 1, Since: now.Add(-90 * time.Minute)}, now))
	require.Equal(t, "4 payments wait for a webhook, the first for 3 days; the last webhook arrived 3 hours ago.", todayStale(intake.StaleAccount{Pending: 4, Since: now.AddDate(0, 0, -3), LastWebhookAt: &last}, now))
	require.Equal(t, "Late success", todayKind("late_success"))
	require.Empty(t, todayKind(""))
	require.Equal(t, "€1.00, ¥5", sums([]payment.Money{{Minor: 100, Currency: "EUR"}, {Minor: 5, Currency: "JPY"}}))
	require.Contains(t, standing(overview.Standing{Breaker: overview.Open}), "throttles calls")
	require.Contains(t, standing(overview.Standing{Breaker: overview.HalfOpen, Held: true}), "next call shows whether it works again. Payments and refunds wait")
	require.Equal(t, "The endpoint answered 410 (Gone), so paylatch sends it no events.", todayDelivery(overview.Endpoint{Gone: true, Oldest: time.Hour}))
	require.Equal(t, "The oldest undelivered event is 60 min old.", todayDelivery(overview.Endpoint{Oldest: time.Hour}))
	require.Equal(t, "All events are delivered.", todayDelivery(overview.Endpoint{}))
	require.Equal(t, "312 events were given up. The shop does not have these events; redeliver them.", todayDelivery(overview.Endpoint{Dead: 312}))
	require.Contains(t, todayDelivery(overview.Endpoint{Dead: 1, Oldest: time.Hour}), "1 event was given up")
}

// TestPage has everything on it, with names that others chose.
func TestPage(t *testing.T) {
	t.Parallel()
	v := todayView{Overview: overview.Overview{
		At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Uncounted: 1,
		Hours:      []overview.Hour{{Succeeded: 1200, Volume: []payment.Money{{Minor: 100, Currency: "EUR"}}}, {Failed: 2, Cancelled: 1, Volume: []payment.Money{{Minor: 50, Currency: "EUR"}}}},
		Accounts:   []overview.Approval{{Name: "<acc>", Day: overview.Share{Succeeded: 1, Ended: 2}}},
		Currencies: []overview.Approval{{Name: "EUR"}, {Name: "JPY"}},
		Unknown:    overview.Unknown{Total: 1, More: true, Accounts: []overview.UnknownOf{{Account: "acc", Ages: map[overview.Band]int64{overview.Older: 1}}}},
		Cases:      []overview.Cases{{Kind: "late_success", Count: 2, Oldest: time.Hour}, {Kind: "a&b", Count: 3}},
		Standing:   []overview.Standing{{Account: "down", Breaker: overview.Open}, {Account: "well", Breaker: overview.Closed}},
		Endpoints:  []overview.Endpoint{{Name: "a/b", Dead: 3}},
	}}
	var out writer
	require.NoError(t, numbers(v).Render(t.Context(), &out))
	page := string(out)
	for _, want := range []string{
		"Events not delivered", `<span class="state failed">Not delivered</span>`,
		"1,200", "€1.50", "1 event is not counted yet.", "&lt;acc&gt;", `href="/support/discrepancies?kind=a%26b"`, `href="/support/discrepancies?kind=late_success"`,
		`href="/support/endpoints/a%2Fb"`, "3 given up", "or more", "throttles calls", "Approval rate by Currency",
	} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, page, ">well<", "what is as usual is not listed")
}

type writer []byte

func (w *writer) Write(text []byte) (int, error) {
	*w = append(*w, text...)
	return len(text), nil
}
