package adyen_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/published"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/adyen"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/adyen"
)

const reportHead = "Company Account,Merchant Account,Psp Reference,Merchant Reference,Payment Method,Creation Date,TimeZone,Type,Modification Reference," +
	"Gross Currency,Gross Debit (GC),Gross Credit (GC),Exchange Rate,Net Currency,Net Debit (NC),Net Credit (NC)," +
	"Commission (NC),Markup (NC),Scheme Fees (NC),Interchange (NC),Payment Method Variant,Modification Merchant Reference,Batch Number\n"

// reportLine returns a line of batch 4: kind, payment and modification, then the columns from the gross currency on.
func reportLine(kind, psp, modification, amounts string) string {
	return "TestCompany,TestMerchant," + psp + ",att_1,visa,2026-03-14 15:09:26,CET," + kind + "," + modification + "," + amounts + ",visaclassic,,4\n"
}

func statement(t *testing.T, file string) (all []gateway.Entry, err error) {
	t.Helper()
	err = adyen.Statement(strings.NewReader(file), func(e gateway.Entry) error {
		all = append(all, e)
		return nil
	})
	return all, err
}

func reportOf(lines ...string) string { return reportHead + strings.Join(lines, "") }

// whole returns a batch with a line of each type, with fees and the payout.
func whole() string {
	return reportOf(
		reportLine("Settled", "1813702551707653", "1713702551795048", "GBP,,5.00,1,GBP,,4.88,,0.04,0.01,0.07"),
		reportLine("Settled", "1813702551707654", "1713702551795049", "JPY,,500,0.0061,GBP,,3.00,0.05,,,"),
		reportLine("SettledReversed", "1813702551707655", "1713702551795050", "GBP,1.00,,1,GBP,1.00,,,,,"),
		reportLine("Refunded", "1813702551707653", "1713702551795051", "GBP,2.00,,1,GBP,2.10,,0.1,,,"),
		reportLine("RefundedReversed", "1813702551707653", "1713702551795051", "GBP,,2.00,1,GBP,,2.00,,,,"),
		reportLine("Chargeback", "1813702551707653", "2313642467170922", "GBP,5.00,,1,GBP,12.50,,7.5,,,"),
		reportLine("ChargebackReversed", "1813702551707653", "2313642467170922", "GBP,,5.00,1,GBP,,5.00,,,,"),
		reportLine("SecondChargeback", "1813702551707653", "2313642467170922", "GBP,5.00,,1,GBP,5.00,,0.0000001,,,"),
		reportLine("Fee", "", "Transaction Fees March 2026", ",,,,GBP,0.28,,,,,"),
		reportLine("OfTheFuture", "", "x", ",,,,GBP,,20,,,,"),
		reportLine("MerchantPayout", "", "TX1 batch 4", ",,,,GBP,14.00,,,,,"),
	)
}

func gbp(minor int64) payment.Money    { return payment.Money{Minor: minor, Currency: "GBP"} }
func pence(minor int64) *payment.Money { m := gbp(minor); return &m }

func TestStatement(t *testing.T) {
	t.Parallel()
	got, err := statement(t, whole())
	require.NoError(t, err)
	at := time.Date(2026, 3, 14, 14, 9, 26, 0, time.UTC)
	yen := payment.Money{Minor: 500, Currency: "JPY"}
	var want []gateway.Entry
	for _, line := range []struct {
		id, payment string
		told        payment.MovementReport
		fee, net    *payment.Money
	}{
		{"1713702551795048/Settled", "1813702551707653", payment.MovementReport{Kind: payment.MovementCapture, ID: "1713702551795048", Part: true, Money: gbp(500)}, pence(12), pence(488)},
		{"1713702551795049/Settled", "1813702551707654", payment.MovementReport{Kind: payment.MovementCapture, ID: "1713702551795049", Part: true, Money: yen}, pence(5), pence(300)},
		{"1713702551795050/SettledReversed", "1813702551707655", payment.MovementReport{Kind: payment.MovementCaptureReversal, ID: "1713702551795050", Money: gbp(100)}, nil, pence(-100)},
		{"1713702551795051/Refunded", "1813702551707653", payment.MovementReport{Kind: payment.MovementRefund, ID: "1713702551795051", Money: gbp(200)}, pence(10), pence(-210)},
		{"1713702551795051/RefundedReversed", "1813702551707653", payment.MovementReport{Kind: payment.MovementRefundReversal, ID: "1713702551795051", Money: gbp(200)}, nil, pence(200)},
		{"2313642467170922/Chargeback", "1813702551707653", payment.MovementReport{Kind: payment.MovementChargeback, Dispute: "2313642467170922", ID: "2313642467170922:CHARGEBACK", Money: gbp(500)}, pence(750), pence(-1250)},
		{"2313642467170922/ChargebackReversed", "1813702551707653", payment.MovementReport{Kind: payment.MovementChargebackReversal, Dispute: "2313642467170922", ID: "2313642467170922:CHARGEBACK_REVERSED", Money: gbp(500)}, nil, pence(500)},
		{"2313642467170922/SecondChargeback", "1813702551707653", payment.MovementReport{Kind: payment.MovementChargeback, Dispute: "2313642467170922", ID: "2313642467170922:SECOND_CHARGEBACK", Money: gbp(500)}, nil, pence(-500)},
	} {
		line.told.At = at
		want = append(want, gateway.Entry{ID: line.id, Payment: line.payment, Payee: "TestMerchant", References: []string{"att_1"}, Payout: "4", Movement: line.told, Fee: line.fee, Net: line.net})
	}
	for id, of := range map[string]payment.EntryKind{"4/Fee/Transaction Fees March 2026": payment.EntryFee, "4/OfTheFuture/x": payment.EntryAdjustment} {
		net := pence(-28)
		if of == payment.EntryAdjustment {
			net = pence(2000)
		}
		want = append(want, gateway.Entry{ID: id, Own: of, Payout: "4", Net: net, Movement: payment.MovementReport{At: at}})
	}
	want = append(want, gateway.Entry{Paid: &payment.PayoutReport{ProviderID: "4", Money: pence(1400)}})
	require.ElementsMatch(t, want, got)
	left := got[len(got)-1].Paid.Money.Minor
	for _, e := range got[:len(got)-1] {
		left -= e.Net.Minor
	}
	require.Zero(t, left, "the entries explain the payout")
}

// Lines of the account without ids are told apart by their order, and lines without an amount are omitted.
func TestStatementOfTheAccount(t *testing.T) {
	t.Parallel()
	deposit := reportLine("DepositCorrection", "", "", ",,,,GBP,1.00,,,,,")
	got, err := statement(t, reportOf(deposit, reportLine("Fee", "", "x", ",,,,GBP,,,,,,"), deposit, reportLine("Balancetransfer", "", "", ",,,,GBP,,2.00,,,,")))
	require.NoError(t, err)
	var ids []string
	for _, e := range got {
		ids = append(ids, e.ID+" "+string(e.Own))
	}
	require.Equal(t, []string{"4/DepositCorrection/ reserve", "4/DepositCorrection//2 reserve", "4/Balancetransfer/ transfer"}, ids)
}

// This file has its columns in another order, and lacks the optional columns.
func TestStatementByTheNamesOfItsColumns(t *testing.T) {
	t.Parallel()
	got, err := statement(t, "\uFEFF\"Net Credit (NC)\";\"Net Debit (NC)\";\"Net Currency\";\"Gross Credit (GC)\";\"Gross Debit (GC)\";\"Gross Currency\";\"Modification Reference\";\"Type\";\"Psp Reference\"\n"+
		"\"4.88\";\"0\";\"GBP\";\"5.00\";\"0.00\";\"GBP\";\"M1\";\"Settled\";\"P1\"\n")
	require.NoError(t, err)
	require.Equal(t, []gateway.Entry{{ID: "M1/Settled", Payment: "P1", Net: pence(488), Movement: payment.MovementReport{Kind: payment.MovementCapture, ID: "M1", Part: true, Money: gbp(500)}}}, got)
}

// TestStatementAndWebhooksAgree: the same money has the same name in the report and in the webhook of its event.
func TestStatementAndWebhooksAgree(t *testing.T) {
	t.Parallel()
	v, err := hooks.New(webhooks.Config{Secrets: []string{strings.Repeat("44", 32)}})
	require.NoError(t, err)
	codes := map[string]string{
		"Settled": "CAPTURE", "SettledReversed": "CAPTURE_FAILED", "Refunded": "REFUND", "Chargeback": "CHARGEBACK",
		"ChargebackReversed": "CHARGEBACK_REVERSED", "SecondChargeback": "SECOND_CHARGEBACK",
	}
	entries, err := statement(t, whole())
	require.NoError(t, err)
	compared := 0
	for _, e := range entries {
		modification, kind, _ := strings.Cut(e.ID, "/")
		code := codes[kind]
		if code == "" {
			continue // a returned refund has the same name as the refund
		}
		d := webhooks.Delivery{Method: http.MethodPost, Header: http.Header{}, Body: fmt.Appendf(nil, `{"live":"false","notificationItems":[{"NotificationRequestItem":{
			"eventCode":%q,"success":"true","pspReference":%q,"originalReference":%q,"merchantAccountCode":"TestMerchant","merchantReference":"att_1",
			"amount":{"currency":%q,"value":%d}}}]}`, code, modification, e.Payment, e.Movement.Money.Currency, e.Movement.Money.Minor)}
		require.NoError(t, v.Sign(&d))
		events, err := v.Verify(t.Context(), d)
		require.NoError(t, err)
		r, ok := payment.ReportOfEvent(events[0], "")
		require.True(t, ok, code)
		told := r.Movements
		if r.Refund != nil {
			told = payment.RefundMovements(*r.Refund, &payment.Attempt{}, nil)
		}
		require.Equal(t, e.Payment, r.Payment, code)
		require.True(t, slices.ContainsFunc(told, func(m payment.MovementReport) bool {
			return m.Kind == e.Movement.Kind && m.ID == e.Movement.ID && m.Money == e.Movement.Money
		}), "%s: %+v is not %+v", code, told, e.Movement)
		compared++
	}
	require.Equal(t, 7, compared)
}

func TestStatementLinesThatCantBeRead(t *testing.T) {
	t.Parallel()
	good := reportLine("Settled", "P1", "M1", "GBP,,5.00,1,GBP,,4.88,,,,")
	for name, bad := range map[string]string{
		"no payment":       reportLine("Settled", "", "M1", "GBP,,5.00,1,GBP,,4.88,,,,"),
		"no modification":  reportLine("Refunded", "P1", "", "GBP,5.00,,1,GBP,5.00,,,,,"),
		"no amount":        reportLine("Settled", "P1", "M1", "GBP,,,1,GBP,,,,,,"),
		"both":             reportLine("Settled", "P1", "M1", "GBP,1.00,5.00,1,GBP,,4.88,,,,"),
		"opposite":         reportLine("Settled", "P1", "M1", "GBP,5.00,,1,GBP,4.88,,,,,"),
		"too many digits":  reportLine("Settled", "P1", "M1", "GBP,,5.001,1,GBP,,4.88,,,,"),
		"net":              reportLine("Settled", "P1", "M1", "GBP,,5.00,1,GBP,,x,,,,"),
		"currency":         reportLine("Settled", "P1", "M1", "XX,,5.00,1,GBP,,4.88,,,,"),
		"fields":           "TestCompany,TestMerchant\n",
		"quotation":        strings.Replace(good, "TestCompany", `"TestCompany`, 1),
		"a fee of a batch": reportLine("Fee", "", "x", ",,,,GBP,y,,,,,"),
	} {
		payout := reportLine("MerchantPayout", "", "x", ",,,,GBP,99.00,,,,,")
		got, err := statement(t, reportOf(good, bad, good, payout))
		require.Len(t, got, 3, name)
		var unread *gateway.UnreadError
		require.ErrorAs(t, err, &unread, name)
		require.Equal(t, 1, unread.Count, name)
		require.Equal(t, 3, unread.Lines[0].Number, name)
		require.NotErrorIs(t, err, gateway.ErrTotals, "what was not read is missing in the sum")
	}
}

func TestStatementTotals(t *testing.T) {
	t.Parallel()
	got, err := statement(t, strings.Replace(whole(), "GBP,14.00,", "GBP,14.01,", 1))
	require.ErrorIs(t, err, gateway.ErrTotals)
	require.ErrorContains(t, err, "batch 4 of TestMerchant differs by -1 GBP")
	require.Len(t, got, 11, "the lines are passed all the same")
	_, err = statement(t, reportOf(reportLine("Settled", "P1", "M1", "GBP,,5.00,1,GBP,,4.88,,,,")))
	require.NoError(t, err, "a batch without its payout has no total")
}

func TestStatementStops(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	require.ErrorIs(t, adyen.Statement(strings.NewReader(whole()), func(gateway.Entry) error { return enough }), enough)
	_, err := statement(t, "Date,Amount\n2026-03-14,1\n")
	require.ErrorContains(t, err, `no column "Psp Reference"`)
}

// TestStatementOfPublishedPayments reads payments of Adyen's own webhook samples, if they are available.
func TestStatementOfPublishedPayments(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(published.Path(t, published.Payloads, "adyen/captureTrue.json"))
	require.NoError(t, err)
	v, err := hooks.New(webhooks.Config{Secrets: []string{strings.Repeat("44", 32)}})
	require.NoError(t, err)
	event := v.Read(webhooks.Delivery{Method: http.MethodPost, Header: http.Header{}, Body: raw})[0]
	r, ok := payment.ReportOfEvent(event, "")
	require.True(t, ok)
	of := r.Movements[0]
	got, err := statement(t, reportOf(reportLine("Settled", r.Payment, of.ID, fmt.Sprintf("%s,,%d.%02d,1,EUR,,1,,,,", of.Money.Currency, of.Money.Minor/100, of.Money.Minor%100))))
	require.NoError(t, err)
	require.Equal(t, []any{r.Payment, of.Kind, of.ID, of.Money}, []any{got[0].Payment, got[0].Movement.Kind, got[0].Movement.ID, got[0].Movement.Money})
}
