package payment_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
)

// A payout only goes forward. A report without an amount, a status or a date leaves what is known.
func TestPayoutTakesReports(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	order := []payment.PayoutStatus{"", payment.PayoutPending, payment.PayoutInTransit, payment.PayoutPaid, payment.PayoutFailed}
	require.Len(t, payment.PayoutStatuses(), len(order))
	for i, from := range order {
		for j, to := range order {
			p := payment.Payout{PayoutReport: payment.PayoutReport{Status: from}, Version: 1}
			p, changed := p.Take(payment.PayoutReport{Status: to}, now)
			require.Equal(t, j > i, changed, "%s to %s", from, to)
			require.Equal(t, order[max(i, j)], p.Status)
		}
	}
	for _, pair := range [][2]payment.PayoutStatus{{payment.PayoutFailed, payment.PayoutCanceled}, {payment.PayoutCanceled, payment.PayoutFailed}} {
		p := payment.Payout{PayoutReport: payment.PayoutReport{Status: pair[0]}}
		p, changed := p.Take(payment.PayoutReport{Status: pair[1], ArrivesOn: now}, now)
		require.False(t, changed)
		require.True(t, p.ArrivesOn.IsZero(), "an old report is ignored as a whole")
	}
	for _, tt := range []struct {
		from, to payment.PayoutStatus
		changes  bool
	}{
		{payment.PayoutFailed, payment.PayoutPaid, true},
		{payment.PayoutFailed, payment.PayoutInTransit, false},
		{payment.PayoutFailed, payment.PayoutPending, false},
		{payment.PayoutCanceled, payment.PayoutPaid, false},
		{payment.PayoutPaid, payment.PayoutInTransit, false},
		{payment.PayoutPaid, payment.PayoutFailed, true},
	} {
		p := payment.Payout{PayoutReport: payment.PayoutReport{Status: tt.from}}
		p, changed := p.Take(payment.PayoutReport{Status: tt.to, ArrivesOn: now, Again: true}, now)
		require.Equal(t, tt.changes, changed, "%s to %s, at a provider that sends payouts again", tt.from, tt.to)
		require.Equal(t, tt.changes, p.ArrivesOn.Equal(now))
	}
	sum := payment.Money{Minor: 5, Currency: "EUR"}
	same := sum
	p := payment.Payout{Version: 1}
	for i, step := range []struct {
		report  payment.PayoutReport
		changes bool
	}{
		{payment.PayoutReport{Money: &sum, ArrivesOn: now, Status: payment.PayoutPending}, true},
		{payment.PayoutReport{}, false},
		{payment.PayoutReport{Money: &same, ArrivesOn: now, Status: payment.PayoutPending}, false},
		{payment.PayoutReport{Money: &payment.Money{Minor: 6, Currency: "EUR"}}, true},
	} {
		var changed bool
		p, changed = p.Take(step.report, now)
		require.Equal(t, step.changes, changed, i)
	}
	require.Equal(t, 3, p.Version)
	require.Equal(t, payment.PayoutPending, p.Status)
	require.Equal(t, now, p.ArrivesOn)
}
