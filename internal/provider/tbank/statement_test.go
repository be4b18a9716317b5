package tbank_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/tbank"
)

func statement(file string) (all []gateway.Entry, err error) {
	err = tbank.Statement(strings.NewReader(file), func(e gateway.Entry) error {
		all = append(all, e)
		return nil
	})
	return all, err
}

func TestStatement(t *testing.T) {
	t.Parallel()
	got, err := statement("PaymentId;OrderId;Status;Amount;ExternalRequestId;Date;Commission;Registry\n" +
		"700001;att_1;CONFIRMED;19.99;;2026-03-14T18:09:26+03:00;0.70;77\n" +
		"700001;att_1;PARTIAL_REFUNDED;5.00;k-refund;2026-03-14T19:09:26+03:00;0.10;78\n" +
		"700002;;AUTHORIZED;19.99;;;;\n" +
		"700003;;REFUNDED;1;k-2;;;\n")
	require.NoError(t, err)
	money := func(minor int64) *payment.Money { m := rub(minor); return &m }
	at := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	require.Equal(t, []gateway.Entry{
		{
			ID: "700001", Payment: "700001", References: []string{"att_1"}, Payout: "77", Fee: money(70), Net: money(1929),
			Movement: payment.MovementReport{Kind: payment.MovementCapture, Money: rub(1999), At: at},
		},
		{
			ID: "k-refund", Payment: "700001", References: []string{"att_1"}, Payout: "78", Fee: money(10), Net: money(-510),
			Movement: payment.MovementReport{Kind: payment.MovementRefund, ID: "k-refund", Money: rub(500), At: at.Add(time.Hour)},
		},
		{ID: "k-2", Payment: "700003", Movement: payment.MovementReport{Kind: payment.MovementRefund, ID: "k-2", Money: rub(100)}},
	}, got)
}

// TestStatementAndCallsAgree: a payment and its refund have the same names in a registry as in calls and lookups.
func TestStatementAndCallsAgree(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	ch := charge(good)
	ch.Capture = payment.CaptureAutomatic
	paid := charged(t, c, ch)
	made, err := c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: paid.ProviderPaymentID, Money: rub(500), Left: rub(1999), IdempotencyKey: "k-refund", Permit: permit()})
	require.NoError(t, err)
	got, err := statement("PaymentId,Status,Amount,ExternalRequestId\n" +
		paid.ProviderPaymentID + ",CONFIRMED,19.99,\n" + paid.ProviderPaymentID + ",PARTIAL_REFUNDED,5,k-refund\n")
	require.NoError(t, err)
	report := gateway.FromOutcome(paid, payment.Cause{Kind: payment.CauseCheck})
	require.Equal(t, []any{report.Payment, report.Movements[0]}, []any{got[0].Payment, got[0].Movement})
	refunded := payment.RefundMovements(payment.RefundReport{ProviderID: made.ProviderRefundID, Event: made.Event, Money: made.Money}, &payment.Attempt{}, nil)
	require.Equal(t, []payment.MovementReport{got[1].Movement}, refunded)
}

func TestStatementLinesThatCantBeRead(t *testing.T) {
	t.Parallel()
	const head, good = "PaymentId,Status,Amount,ExternalRequestId,Currency,Date,Commission\n", "1,CONFIRMED,19.99,,,,\n"
	enough := errors.New("enough")
	require.ErrorIs(t, tbank.Statement(strings.NewReader(head+good), func(gateway.Entry) error { return enough }), enough)
	for _, bad := range []string{
		",CONFIRMED,19.99,,,,\n", "1,CONFIRMED,,,,,\n", "1,CONFIRMED,0,,,,\n", "1,CONFIRMED,19.999,,,,\n", "1,REFUNDED,19.99,,,,\n",
		"1,CONFIRMED,19.99,,XX,,\n", "1,CONFIRMED,19.99,,,14.03.2026,\n", "1,CONFIRMED,19.99,,,,x\n",
	} {
		got, err := statement(head + bad + good)
		require.Len(t, got, 1, bad)
		var unread *gateway.UnreadError
		require.ErrorAs(t, err, &unread, bad)
		require.Equal(t, 2, unread.Lines[0].Number)
	}
	_, err := statement("PaymentId;Status\n1;CONFIRMED\n")
	require.ErrorContains(t, err, `no column "Amount"`)
}
