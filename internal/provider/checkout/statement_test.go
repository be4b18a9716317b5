package checkout_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/checkout"
)

const reportHead = "Client Entity ID,Payment ID,Reference,Action Type,Action ID,Processed On,Processing Currency,Processing Currency Amount,Breakdown Type,Holding Currency,Holding Currency Amount,Payout ID\n"

func statement(file string) (all []gateway.Entry, err error) {
	err = checkout.Statement(strings.NewReader(file), func(e gateway.Entry) error {
		all = append(all, e)
		return nil
	})
	return all, err
}

func TestStatement(t *testing.T) {
	t.Parallel()
	got, err := statement(reportHead +
		"ent_1,pay_1,att_1,Capture,act_1,2026-03-14T15:09:26.844,EUR,19.99000000,Capture,GBP,17.01,0CFJU\n" +
		"ent_1,pay_1,att_1,Capture,act_1,2026-03-14T15:09:26.844,EUR,-0.19526938,Scheme Fixed Fee,GBP,-0.17,0CFJU\n" +
		"ent_1,pay_1,,Refund,act_2,2026-03-14T16:09:26Z,EUR,-5.00,Refund,GBP,-4.20,0CFJU\n" +
		"ent_1,pay_1,,Chargeback,dsp_1,,EUR,-5.00,Chargeback,GBP,-4.20,0CFJU\n" +
		"ent_1,pay_1,,Chargeback,cbk_1,,EUR,-5.00,Chargeback,GBP,-4.20,0CFJU\n" +
		"ent_1,,,Payout,pyt_1,,GBP,-8.44,Payout,GBP,-8.44,0CFJU\n")
	require.NoError(t, err)
	require.Equal(t, []gateway.Entry{
		{ID: "act_1/capture", Payment: "pay_1", References: []string{"att_1"}, Payout: "0CFJU", Movement: payment.MovementReport{
			Kind: payment.MovementCapture, Money: euro(1999), At: time.Date(2026, 3, 14, 15, 9, 26, 844e6, time.UTC),
		}},
		{ID: "act_2/refund", Payment: "pay_1", Payout: "0CFJU", Movement: payment.MovementReport{
			Kind: payment.MovementRefund, ID: "act_2", Money: euro(500), At: time.Date(2026, 3, 14, 16, 9, 26, 0, time.UTC),
		}},
		{ID: "dsp_1/chargeback", Payment: "pay_1", Payout: "0CFJU", Movement: payment.MovementReport{Kind: payment.MovementChargeback, Dispute: "dsp_1", Money: euro(500)}},
	}, got)
}

// TestStatementAndBooksAgree: the report and the search give the same entries the same ids, names and amounts.
func TestStatementAndBooksAgree(t *testing.T) {
	t.Parallel()
	got, err := statement(reportHead +
		"ent_1,pay_book1,att_1,Capture,act_c1,,EUR,10,Capture,EUR,10,P\n" +
		"ent_1,pay_book1,att_1,Capture,act_c2,,EUR,9.99,Capture,EUR,9.99,P\n" +
		"ent_1,pay_book1,att_1,Refund,act_r1,,EUR,-1,Refund,EUR,-1,P\n" +
		"ent_1,pay_book1,att_1,Chargeback,dsp_1,,EUR,-15,Chargeback,EUR,-15,P\n")
	require.NoError(t, err)
	booked := booked(t).Entries
	for _, e := range got {
		require.True(t, contains(booked, e), "%+v", e)
	}
	require.Len(t, got, 4)
}

func contains(all []gateway.Entry, e gateway.Entry) bool {
	for _, one := range all {
		if one.ID == e.ID && one.Payment == e.Payment && one.Movement.Kind == e.Movement.Kind && one.Movement.ID == e.Movement.ID && one.Money() == e.Money() {
			return true
		}
	}
	return false
}

func TestStatementLinesThatCantBeRead(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	good := "ent_1,pay_1,att_1,Capture,act_1,,EUR,19.99,Capture,EUR,19.99,P\n"
	require.ErrorIs(t, checkout.Statement(strings.NewReader(reportHead+good), func(gateway.Entry) error { return enough }), enough)
	for _, bad := range []string{
		strings.Replace(good, "pay_1", "", 1), strings.Replace(good, "act_1", "", 1), strings.Replace(good, "19.99", "19.999", 1), strings.Replace(good, "EUR", "", 1),
	} {
		got, err := statement(reportHead + bad + good)
		require.Len(t, got, 1)
		var unread *gateway.UnreadError
		require.ErrorAs(t, err, &unread)
		require.Equal(t, 2, unread.Lines[0].Number)
	}
	_, err := statement("a,b\n1,2\n")
	require.ErrorContains(t, err, `no column "Action ID"`)
}

// A payment of a session and of a local method has the attempt's id in a short form.
func TestTheStatementNamesTheAttempt(t *testing.T) {
	t.Parallel()
	for reference, want := range map[string]string{
		"ahm6h4xtr5zaxijce23grz6asi": "01d9e3f2-f38f-720b-a122-26b668e7c092",
		"AHM6H4XTR5ZAXIJCE23GRZ6ASI": "AHM6H4XTR5ZAXIJCE23GRZ6ASI",
		"ahm6h4xtr5baxijce23grz6asi": "ahm6h4xtr5baxijce23grz6asi", // not of our version
		"A-1":                        "A-1",
	} {
		got, err := statement(reportHead + "ent_1,pay_1," + reference + ",Capture,act_1,2026-03-14T15:09:26,EUR,19.99,Capture,GBP,17.01,0CFJU\n")
		require.NoError(t, err)
		require.Equal(t, []string{want}, got[0].References, reference)
	}
}
