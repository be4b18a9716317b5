package paypal_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

func status(of string) object {
	return object{"transaction_status": of, "transaction_updated_date": "2026-03-16T23:30:00-0100"}
}

func paidOut(id string, status payment.PayoutStatus, minor int64) payment.PayoutReport {
	return payment.PayoutReport{ProviderID: id, Status: status, Money: new(euro(minor))}
}

func payouts(t *testing.T, b *books, span gateway.Span) (all []payment.PayoutReport, asked []string, err error) {
	t.Helper()
	c, seen := serve(t, keeping(t, b))
	err = c.Payouts(t.Context(), span, func(r payment.PayoutReport) error {
		all = append(all, r)
		return nil
	})
	for len(seen) > 0 {
		asked = append(asked, (<-seen).line)
	}
	return all, asked, err
}

// Withdrawals to the bank are payouts, as they are now. A successful one has the day in UTC on which PayPal completed it. A withdrawal that
// came back from the bank has failed, even if it was made before the span.
func TestPayouts(t *testing.T) {
	t.Parallel()
	b := &books{transactions: []object{
		transaction("W1", "T0400", "-50.00", 0, status("S")), transaction("W2", "T0400", "-60.00", 1, status("P")), transaction("W3", "T0400", "-70.00", 2, status("V")),
		transaction("W4", "T0401", "-80.00", 3, status("D")), transaction("W5", "T0403", "-90.00", 4, status("S")), transaction("W6", "T0403", "-1.00", 5, nil),
		transaction("B1", "T1101", "90.00", 6, of("W5")), transaction("B2", "T1101", "7.00", 7, of("W0")), transaction("B3", "T1101", "50.00", 8, object{
			"paypal_reference_id": "W1", "paypal_reference_id_type": "TXN", "transaction_status": "P",
		}),
		transaction("H1", "T0402", "-5.00", 9, nil), transaction("C1", "T0006", "19.99", 10, nil),
	}}
	got, asked, err := payouts(t, b, gateway.Span{From: began, To: began.Add(time.Hour)})
	require.NoError(t, err)
	done := paidOut("W1", payment.PayoutPaid, 5000)
	done.ArrivesOn = time.Date(2026, 3, 17, 0, 0, 0, 0, time.UTC)
	back := paidOut("W5", payment.PayoutFailed, 9000)
	back.ArrivesOn = done.ArrivesOn
	require.Equal(t, []payment.PayoutReport{
		done, paidOut("W2", payment.PayoutPending, 6000), paidOut("W3", payment.PayoutFailed, 7000), paidOut("W4", payment.PayoutFailed, 8000),
		back, paidOut("W6", payment.PayoutPaid, 100), paidOut("W0", payment.PayoutFailed, 700),
	}, got)
	for _, line := range asked {
		require.True(t, strings.Contains(line, "/oauth2/") || strings.Contains(line, "transaction_type=T"), line)
	}
}

// A span of more than 31 days becomes several searches. A withdrawal at their boundary may be passed twice, with the same status, and one
// that PayPal does not list yet is read by a later run.
func TestPayoutsOfALongSpan(t *testing.T) {
	t.Parallel()
	const day = 86400
	b := &books{refreshed: "2026-03-20T00:00:00Z", transactions: []object{
		transaction("W1", "T0400", "-1.00", 0, nil), transaction("W2", "T0400", "-2.00", 31*day, nil), transaction("W3", "T0400", "-3.00", 40*day, nil),
		transaction("B2", "T1101", "2.00", 39*day, of("W2")),
	}}
	got, _, err := payouts(t, b, gateway.Span{From: began, To: began.AddDate(0, 0, 45)})
	require.NoError(t, err)
	require.Equal(t, []payment.PayoutReport{
		paidOut("W1", payment.PayoutPaid, 100), paidOut("W2", payment.PayoutFailed, 200), paidOut("W2", payment.PayoutFailed, 200), paidOut("W3", payment.PayoutPaid, 300),
	}, got)
}

// A withdrawal that can't be read hides no other.
func TestPayoutsThatCantBeRead(t *testing.T) {
	t.Parallel()
	b := &books{transactions: []object{
		transaction("W1", "T0400", "-1.999", 0, nil), transaction("W2", "T0400", "-1.00", 1, status("?")),
		transaction("W3", "T0400", "-1.00", 2, object{"transaction_updated_date": "soon"}), transaction("B1", "T1101", "1.00", 3, nil), transaction("W4", "T0400", "-4.00", 4, nil),
	}}
	got, _, err := payouts(t, b, gateway.Span{From: began, To: began.Add(time.Hour)})
	require.ErrorIs(t, err, gateway.ErrUnreadable)
	require.ErrorContains(t, err, "4 items")
	require.Equal(t, []payment.PayoutReport{paidOut("W4", payment.PayoutPaid, 400)}, got)
	b.most = 1
	for range 3 {
		b.transactions = append(b.transactions, transaction("W5", "T0400", "-5.00", 5, nil))
	}
	_, _, err = payouts(t, b, gateway.Span{From: began, To: began.Add(time.Hour)})
	require.ErrorContains(t, err, "RESULTSET_TOO_LARGE")
}
