package reconcile_test

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/ledger/reconcile"
	"github.com/paylatch/paylatch/internal/payment"
)

// clerk reads the books.
var clerk = authz.Actor{Subject: "ann", Roles: []payment.Role{payment.RoleSupport}}

// paidOut lists the payouts as the API shows them.
func (r *env) paidOut(t *testing.T) (all []payment.Payout) {
	t.Helper()
	q, err := lists.Parse(lists.Payouts, nil)
	require.NoError(t, err)
	page, err := lists.New(r.store.Lists()).Payouts(t.Context(), clerk, q)
	require.NoError(t, err)
	return page.Items
}

// told lists the events about the books.
func (r *env) told(t *testing.T) []string {
	t.Helper()
	return rows(t, r, `SELECT type || ' ' || coalesce(payload->>'kind', payload->>'status' || ' ' || (payload->>'entries') || ' ' || coalesce(payload->>'unexplained', '-'))
		FROM outbox WHERE type ~ '^(settlement|payout)' ORDER BY batch, nth`)
}

// booked is an entry of a payout.
func booked(e gateway.Entry, fee, net int64, payout string) gateway.Entry {
	f, n := euros(fee), euros(net)
	e.Fee, e.Net, e.Payout = &f, &n, payout
	return e
}

func listed(id string, minor int64, status payment.PayoutStatus) payment.PayoutReport {
	sum := euros(minor)
	return payment.PayoutReport{ProviderID: id, Money: &sum, Status: status, ArrivesOn: time.Date(2026, 11, 4, 0, 0, 0, 0, time.UTC)}
}

// A payout is explained to the minor unit by captures, refunds and chargebacks with their fees. A fee of the account itself stays
// unexplained, and so does an entry in another currency.
func TestPayoutsAreExplained(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	one, two, three := r.pay(t, "A-1").ProviderPaymentID, r.pay(t, "A-2").ProviderPaymentID, r.pay(t, "A-3").ProviderPaymentID
	dollars := booked(reconcileEntry("c3", three, payment.MovementCapture, "", euros(price)), 0, 0, "po_2")
	dollars.Fee, dollars.Net = nil, &payment.Money{Minor: 2100, Currency: "USD"}
	r.bank.books = []gateway.Entry{
		booked(captured(one), 59, 1940, "po_1"), booked(captured(two), 59, 1940, "po_1"),
		booked(reconcileEntry("r1", one, payment.MovementRefund, "re_1", euros(500)), 7, -507, "po_1"),
		booked(reconcileEntry("d1", two, payment.MovementChargeback, "dp_1", euros(price)), 1500, -3499, "po_1"),
		dollars,
	}
	r.bank.payouts = []payment.PayoutReport{listed("po_1", -126, payment.PayoutPaid), listed("po_2", 25, payment.PayoutPending)}
	r.reconcile(t)
	told := r.told(t)
	require.Len(t, told, 6)
	require.Equal(t, "payout.paid paid 4 0", told[5], "after all of its settlements")
	got := map[string]payment.Payout{}
	for _, p := range r.paidOut(t) {
		got[p.ProviderID] = p
	}
	require.Len(t, got, 2)
	require.EqualValues(t, 4, got["po_1"].Entries)
	require.EqualValues(t, 0, *got["po_1"].Unexplained(), "1940 + 1940 - 507 - 3499 = -126")
	require.Equal(t, payment.PayoutPaid, got["po_1"].Status)
	require.Equal(t, "2026-11-04", got["po_1"].ArrivesOn.Format(time.DateOnly))
	require.EqualValues(t, 1, got["po_2"].Entries)
	require.EqualValues(t, 25, *got["po_2"].Unexplained(), "its only entry is in another currency")

	r.bank.payouts = []payment.PayoutReport{listed("po_1", -151, payment.PayoutPaid)} // with a fee of the account
	r.reconcile(t)
	for _, p := range r.paidOut(t) {
		if p.ProviderID == "po_1" {
			require.EqualValues(t, -25, *p.Unexplained())
		}
	}
	q, err := lists.Parse(lists.Settlements, map[string]string{"payout_id": got["po_1"].ID.String(), "kind": "refund"})
	require.NoError(t, err)
	page, err := lists.New(r.store.Lists()).Settlements(t.Context(), clerk, q)
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	require.Equal(t, "r1", page.Items[0].EntryID)
	require.Equal(t, got["po_1"].ID, page.Items[0].Payout)
}

// Where the provider lists no payouts, a payout is its id and its settlements. Nothing else is guessed.
func TestAnUnlistedPayout(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	r.bank.books = []gateway.Entry{booked(captured(r.pay(t, "A-1").ProviderPaymentID), 59, 1940, "po_9")}
	r.reconcile(t)
	r.reconcile(t)
	all := r.paidOut(t)
	require.Len(t, all, 1)
	require.Equal(t, "po_9", all[0].ProviderID)
	require.Nil(t, all[0].Money)
	require.Nil(t, all[0].Unexplained())
	require.Empty(t, all[0].Status)
	require.True(t, all[0].ArrivesOn.IsZero())
	require.EqualValues(t, 1, all[0].Entries)
	require.Equal(t, 1, all[0].Version)
	require.Equal(t, []string{"settlement.recorded capture"}, r.told(t))
}

// The payouts of the 31 days before the span are read again, and none ahead of time, which a provider may refuse.
func TestTheSpanOfPayouts(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	from := time.Now().Add(-time.Hour)
	r.reconcile(t, func(q *reconcile.Request) { q.Span = gateway.Span{From: from, To: from.AddDate(0, 0, 2)} })
	require.Equal(t, from.Add(-31*24*time.Hour), r.bank.paidIn.From)
	require.False(t, r.bank.paidIn.To.After(time.Now()))
}

// Each entry, and each end of a payout, is told once, however often and by how many runs at once the books are read. A payout that
// has ended is told after its settlements. An old status moves nothing.
func TestBooksAreToldOnce(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	one, two := r.pay(t, "A-1").ProviderPaymentID, r.pay(t, "A-2").ProviderPaymentID
	want := []string{"settlement.recorded capture", "settlement.recorded capture", "payout.paid paid 2 0", "payout.failed failed 2 0"}
	for i, step := range []struct {
		status payment.PayoutStatus
		told   int
	}{
		{payment.PayoutPending, 2},
		{payment.PayoutInTransit, 2},
		{payment.PayoutPaid, 3},
		{payment.PayoutInTransit, 3},
		{payment.PayoutPaid, 3},
		{payment.PayoutFailed, 4},
		{payment.PayoutPaid, 4},
		{payment.PayoutCanceled, 4},
	} {
		r.bank.books = []gateway.Entry{booked(captured(one), 59, 1940, "po_1"), booked(captured(two), 59, 1940, "po_1")}
		r.bank.payouts = []payment.PayoutReport{listed("po_1", 3880, step.status)}
		// Another date is a change of its own.
		r.bank.payouts[0].ArrivesOn = r.bank.payouts[0].ArrivesOn.AddDate(0, 0, i)
		var runs sync.WaitGroup
		errs := make([]error, 3)
		for n := range errs {
			runs.Go(func() {
				q := r.request()
				q.Found = func(payment.Discrepancy) {}
				_, errs[n] = r.Run(t.Context(), q)
			})
		}
		runs.Wait()
		for _, err := range errs {
			require.NoError(t, err)
		}
		require.Equal(t, want[:step.told], r.told(t), "%d %s", i, step.status)
	}
	all := r.paidOut(t)
	require.Len(t, all, 1)
	require.Equal(t, payment.PayoutFailed, all[0].Status)
	require.Equal(t, []string{strconv.Itoa(all[0].Version)}, rows(t, r, "SELECT version::text FROM outbox WHERE type = 'payout.failed'"))
}

// A payout that the bank returned, and that the provider sends again under the same id, is in the bank once: on its new day.
func TestAReturnedPayoutIsSentAgain(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	one := captured(r.pay(t, "A-1").ProviderPaymentID)
	one.Fee, one.Net, one.Payout = nil, nil, "po_1"
	r.bank.books = []gateway.Entry{one}
	day := time.Now().UTC().Truncate(24 * time.Hour)
	for i, step := range []struct {
		status payment.PayoutStatus
		bank   int64
		told   string
	}{
		{payment.PayoutPaid, price, "payout.paid paid 1 0"}, {payment.PayoutFailed, 0, "payout.failed failed 1 0"}, {payment.PayoutPaid, price, "payout.paid paid 1 0"},
	} {
		r.bank.payouts = []payment.PayoutReport{listed("po_1", price, step.status)}
		r.bank.payouts[0].Again, r.bank.payouts[0].ArrivesOn = true, day.AddDate(0, 0, i-3)
		r.reconcile(t)
		sums := r.accounts(t)
		require.Equal(t, step.bank, sums["assets:bank:payouts"], i)
		require.Equal(t, price-step.bank, sums["assets:provider:bank:balance"], i)
		told := r.told(t)
		require.Equal(t, step.told, told[len(told)-1])
		require.Len(t, told, i+2)
	}
	require.Equal(t, day.AddDate(0, 0, -1), r.paidOut(t)[0].ArrivesOn)
}
