package reconcile_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// A provider may raise the total of an entry with each further capture or refund. A stored entry keeps its amount, and each rise is an
// entry of its own, stored once, until its payout is known. Rises have no date of their own.
func TestTheRiseOfATotalIsAnEntry(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	a, of := r.pay(t, "A-1"), "pay_of-others"
	one := a.ProviderPaymentID
	total := func(of string, minor int64) gateway.Entry {
		e := reconcileEntry(of+"/refund", of, payment.MovementRefund, "", euros(minor))
		e.Grows = true
		return e
	}
	kept := func(table, payout string, parts ...string) {
		t.Helper()
		require.Equal(t, parts, rows(t, r, `SELECT concat_ws(' ', entry_id, amount) FROM `+table+` WHERE kind = 'refund' AND payout_id = '`+payout+`' ORDER BY 1`))
	}
	for i, minor := range []int64{500, 500, 1500, 1500, 1600} {
		r.bank.books = []gateway.Entry{captured(one), total(one, minor), total(of, minor), total(of, minor)}
		r.reconcile(t)
		require.Equal(t, 4, r.count.Entries)
		require.Equal(t, 4, r.count.Agreed+r.count.Applied+r.count.Foreign, "%d: %+v", i, r.count)
		require.Equal(t, minor, r.attempt(t, a.ID).Refunded)
	}
	for table, of := range map[string]string{"settlements": one, "account_entries": of} {
		kept(table, "", of+"/refund 500", of+"/refund/2 1000", of+"/refund/3 100")
	}
	require.Equal(t, map[string]int64{
		"assets:provider:bank:balance": price - 59 - 1600 - 1600, "expenses:fees:bank": 59, "income:sales": -price, "income:refunds": 1600, "equity:unexplained": 1600,
	}, r.accounts(t), "nothing is owed beside the balance")
	require.Equal(t, []string{"f", "t", "t"}, rows(t, r, "SELECT left((at IS NULL)::text, 1) FROM settlements WHERE kind = 'refund' ORDER BY entry_id"))

	paid := total(one, 1600)
	paid.Payout = "po_1"
	r.bank.books = []gateway.Entry{captured(one), paid}
	r.reconcile(t)
	kept("settlements", "po_1", one+"/refund 500", one+"/refund/2 1000", one+"/refund/3 100")
}

// A payment that is recorded after its total has risen keeps the same parts.
func TestTheRiseOfATotalBeforeItsPaymentIsRecorded(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	of := "pay_A-1"
	for i, minor := range []int64{1000, price, price} {
		if i == 2 {
			require.Equal(t, of, r.pay(t, "A-1").ProviderPaymentID)
		}
		e := reconcileEntry("cap", of, payment.MovementCapture, "", euros(minor))
		e.Grows, e.Movement.At = true, time.Now().Add(-time.Minute)
		r.bank.books = []gateway.Entry{e}
		r.reconcile(t)
	}
	for _, table := range []string{"settlements", "account_entries"} {
		require.Equal(t, []string{"cap 1000", fmt.Sprintf("cap/2 %d", price-1000)}, rows(t, r, "SELECT concat_ws(' ', entry_id, amount) FROM "+table+" ORDER BY 1"))
	}
	require.Equal(t, map[string]int64{"assets:provider:bank:balance": price, "income:sales": -price}, r.accounts(t))
}
