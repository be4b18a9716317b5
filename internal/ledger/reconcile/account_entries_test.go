package reconcile_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/ledger/journal"
	"github.com/paylatch/paylatch/internal/payment"
)

// journal lists the transactions of the months around now that an entry or a payout has.
func (r *env) journal(t *testing.T) (all []string) {
	t.Helper()
	this := journal.MonthOf(time.Now())
	for _, m := range []journal.Month{this.Previous(), this} { // what a test makes may be of either
		require.NoError(t, journal.Journal{Store: r.store.Journal(), Month: m}.Each(t.Context(), func(one journal.Transaction) error {
			texts := []string{one.Text, one.Entry + one.Payment, one.Payout}
			for _, p := range one.Postings {
				texts = append(texts, p.Account, p.Money.String())
			}
			all = append(all, strings.Join(texts, " "))
			return nil
		}))
	}
	return all
}

// An entry that belongs to no recorded payment is kept, and so are the account's own entries: the journal has all of the books. An own
// entry is counted nowhere.
func TestEntriesWithoutAPaymentAreKept(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	one := r.pay(t, "A-1").ProviderPaymentID
	fee := gateway.Entry{ID: "f1", Own: payment.EntryFee, Net: &payment.Money{Minor: -25, Currency: "EUR"}, Payout: "po_1", Movement: payment.MovementReport{At: time.Now().Add(-time.Minute)}}
	foreign := booked(captured("pay_of-others"), 59, 1940, "")
	r.bank.books = []gateway.Entry{booked(captured(one), 59, 1940, "po_1"), fee, foreign}
	r.reconcile(t)
	require.Equal(t, 2, r.count.Entries)
	require.Equal(t, 1, r.count.Agreed)
	require.Equal(t, 1, r.count.Foreign)
	explained := []string{
		"fee f1 po_1 assets:provider:bank:balance -0.25 EUR expenses:fees:bank 0.25 EUR",
		"capture of an unknown payment cap_pay_of-otherspay_of-others  assets:provider:bank:balance 19.40 EUR equity:unexplained -19.40 EUR",
	}
	require.Subset(t, r.journal(t), explained)
	require.Contains(t, r.journal(t), "payout  po_1 assets:bank:payouts 19.15 EUR assets:provider:bank:balance -19.15 EUR")

	// Again, now with the payout of the foreign entry: only that is filled.
	r.bank.books[2].Payout = "po_1"
	fee.Net.Minor = -26
	r.reconcile(t)
	require.Subset(t, r.journal(t), []string{
		explained[0], "capture of an unknown payment cap_pay_of-otherspay_of-others po_1 assets:provider:bank:balance 19.40 EUR equity:unexplained -19.40 EUR",
		"payout  po_1 assets:bank:payouts 38.55 EUR assets:provider:bank:balance -38.55 EUR",
	})
	require.Len(t, r.paidOut(t), 1)
}

// An entry whose payment is recorded later is a settlement from then on, and is in the journal once.
func TestAnEntryIsExplainedLater(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	r.bank.books = []gateway.Entry{booked(captured("pay_A-1"), 59, 1940, "po_1")}
	r.reconcile(t)
	require.Contains(t, r.journal(t), "capture of an unknown payment cap_pay_A-1pay_A-1 po_1 assets:provider:bank:balance 19.40 EUR equity:unexplained -19.40 EUR")
	require.Equal(t, "pay_A-1", r.pay(t, "A-1").ProviderPaymentID)
	r.reconcile(t)
	got := r.journal(t)
	require.Len(t, got, 3)
	require.ElementsMatch(t, []string{
		"capture pay_A-1  assets:provider:bank:receivable 19.99 EUR income:sales -19.99 EUR",
		"settlement of capture cap_pay_A-1pay_A-1 po_1 assets:provider:bank:balance 19.40 EUR expenses:fees:bank 0.59 EUR assets:provider:bank:receivable -19.99 EUR",
		"payout  po_1 assets:bank:payouts 19.40 EUR assets:provider:bank:balance -19.40 EUR",
	}, got)
}

// accounts sums up the journal of the months around now, without accounts that balance.
func (r *env) accounts(t *testing.T) map[string]int64 {
	t.Helper()
	sums := map[string]int64{}
	this := journal.MonthOf(time.Now())
	for _, m := range []journal.Month{this.Previous(), this} {
		require.NoError(t, journal.Journal{Store: r.store.Journal(), Month: m}.Each(t.Context(), func(one journal.Transaction) error {
			for _, p := range one.Postings {
				sums[p.Account] += p.Money.Minor
			}
			return nil
		}))
	}
	maps.DeleteFunc(sums, func(_ string, minor int64) bool { return minor == 0 })
	return sums
}

// An entry without a net counts in its payout as it does in the balance. A later read fills in its fee and its net, once.
func TestAnEntryWithoutANetCountsInItsPayout(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	one := r.pay(t, "A-1").ProviderPaymentID
	refund := reconcileEntry("r1", one, payment.MovementRefund, "re_1", euros(500))
	foreign := reconcileEntry("c2", "pay_of-others", payment.MovementCapture, "", euros(300))
	refund.Payout, foreign.Payout = "po_1", "po_1"
	r.bank.books = []gateway.Entry{booked(captured(one), 59, 1940, "po_1"), refund, foreign}
	r.bank.payouts = []payment.PayoutReport{listed("po_1", 1740, payment.PayoutPaid)}
	r.bank.payouts[0].ArrivesOn = time.Time{}
	r.reconcile(t)
	require.Equal(t, map[string]int64{
		"assets:bank:payouts": 1740, "expenses:fees:bank": 59, "income:sales": -1999, "income:refunds": 500, "equity:unexplained": -300,
	}, r.accounts(t), "only the payment of others is unexplained, and the balance is empty")
	require.EqualValues(t, 300, *r.paidOut(t)[0].Unexplained())
	sums, err := journal.Closing{Stores: []journal.Store{r.store.Journal()}}.Between(t.Context(), time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Len(t, sums, 1)
	require.EqualValues(t, 1740, sums[0].PaidOut)
	require.Zero(t, sums[0].NotBooked())

	for _, net := range []int64{-507, -508} {
		r.bank.books[1] = booked(refund, 7, net, "po_1")
		r.bank.books[2] = booked(foreign, 3, -net, "po_1")
		r.reconcile(t)
		require.Equal(t, []string{"r1 7 -507 EUR"}, rows(t, r, "SELECT concat_ws(' ', entry_id, fee, net, balance_currency) FROM settlements WHERE kind = 'refund'"))
		require.Equal(t, []string{"c2 3 507 EUR"}, rows(t, r, "SELECT concat_ws(' ', entry_id, fee, net, balance_currency) FROM account_entries"))
	}
	require.ElementsMatch(t, []string{"settlement.recorded capture", "settlement.recorded refund", "payout.paid paid 2 300"}, r.told(t))
}

// Several entries of a total are kept with their own amounts, and compared by the total.
func TestPartsOfATotalAreKeptEach(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	one := r.pay(t, "A-1").ProviderPaymentID
	part := func(id, of string, total, own int64) gateway.Entry {
		e := reconcileEntry(id, of, payment.MovementCapture, "", euros(total))
		e.Part = &payment.Money{Minor: own, Currency: "EUR"}
		return e
	}
	r.bank.books = []gateway.Entry{part("c1", one, 1000, 1000), part("c2", one, price, 999), part("c3", "pay_of-others", 700, 300)}
	r.reconcile(t)
	require.Equal(t, 2, r.count.Agreed)
	require.Equal(t, []string{"c1 1000", "c2 999", "c3 300"}, rows(t, r, "SELECT entry_id || ' ' || amount FROM settlements UNION ALL SELECT entry_id || ' ' || amount FROM account_entries ORDER BY 1"))
}

// The money of a payout that came back is a part of the next payout, and is not posted again.
func TestReturnedMoneyIsInTheNextPayout(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	back := gateway.Entry{ID: "b1", Own: payment.EntryReturn, Net: &payment.Money{Minor: 700, Currency: "EUR"}, Payout: "po_2", Movement: payment.MovementReport{At: time.Now().Add(-time.Minute)}}
	r.bank.books = []gateway.Entry{back, booked(captured(r.pay(t, "A-1").ProviderPaymentID), 59, 1940, "po_2")}
	r.bank.payouts = []payment.PayoutReport{listed("po_2", 2640, payment.PayoutPaid)}
	r.bank.payouts[0].ArrivesOn = time.Time{}
	r.reconcile(t)
	got := r.journal(t)
	require.Len(t, got, 3, "the movement, its settlement and the payout")
	require.Contains(t, got, "payout  po_2 assets:bank:payouts 26.40 EUR assets:provider:bank:balance -26.40 EUR")
}

// A dispute was won, and then lost in arbitration. Its second chargeback is kept if the return of the money before it is recorded. Otherwise
// the books have the first chargeback alone, and nothing is kept twice.
func TestAnImpliedEntryNeedsTheReturn(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	began := time.Now().Add(-time.Hour)
	of := func(id, pay string, kind payment.MovementKind, after time.Duration, implied bool) gateway.Entry {
		e := reconcileEntry(pay+"/"+id, pay, kind, "", euros(50))
		e.Movement.Dispute, e.Movement.At, e.Implied = "dsp_"+pay, began.Add(after), implied
		e.Movement.Whole = kind == payment.MovementChargebackReversal
		return e
	}
	const took, back = payment.MovementChargeback, payment.MovementChargebackReversal
	won, lost := r.pay(t, "A-1").ProviderPaymentID, r.pay(t, "A-2").ProviderPaymentID
	r.bank.books = []gateway.Entry{captured(won), captured(lost), of("took", won, took, time.Minute, false), of("took", lost, took, time.Minute, false)}
	r.reconcile(t)
	r.bank.books = append(r.bank.books, of("back", won, back, 2*time.Minute, false))
	r.reconcile(t)
	for _, pay := range []string{won, lost, "pay_of-others"} {
		r.bank.books = append(r.bank.books, of("took", pay, took, 3*time.Minute, false), of("back", pay, back, 3*time.Minute, true), of("took/2", pay, took, 3*time.Minute, true))
	}
	for range 2 {
		r.reconcile(t)
		require.ElementsMatch(t, []string{won + "/took", won + "/back", won + "/took/2", lost + "/took"}, rows(t, r, "SELECT entry_id FROM settlements WHERE kind <> 'capture'"))
		require.Len(t, rows(t, r, "SELECT entry_id FROM account_entries"), 3, "of the payment that is not recorded")
		require.Equal(t, []string{won + " 100 50", lost + " 50 0"}, rows(t, r, `SELECT concat_ws(' ', substr(m.dispute, 5), sum(m.amount) FILTER (WHERE m.kind = 'chargeback'),
			coalesce(sum(m.amount) FILTER (WHERE m.kind = 'chargeback_reversal'), 0)) FROM money_movements m WHERE m.kind LIKE 'chargeback%' GROUP BY m.dispute ORDER BY 1`))
		require.Empty(t, r.verify(t))
	}
}

// Some books have the reversal of a capture in the place of the capture. It is kept only beside its capture: alone it would take money
// from the balance that the balance never had. It is compared in any case.
func TestAReversalIsKeptBesideItsCapture(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]string{"recorded": "pay_A-1", "of_others": "pay_of-others"} {
		for _, read := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s_%t", name, read), func(t *testing.T) {
				t.Parallel()
				undoneCapture(t, of, read)
			})
		}
	}
}

func undoneCapture(t *testing.T, of string, read bool) {
	t.Helper()
	r := newEnv(t)
	a := r.pay(t, "A-1")
	capture, back := reconcileEntry("c1", of, payment.MovementCapture, "", euros(price)), reconcileEntry("c1/reversal", of, payment.MovementCaptureReversal, "", euros(price))
	back.Undoes = capture.ID
	kept := []string{}
	if read {
		r.bank.books, kept = []gateway.Entry{capture}, []string{"c1", "c1/reversal"}
		r.reconcile(t)
	}
	r.bank.books = []gateway.Entry{back}
	r.reconcile(t)
	r.reconcile(t)
	require.Equal(t, kept, rows(t, r, "SELECT entry_id FROM settlements UNION SELECT entry_id FROM account_entries ORDER BY 1"))
	require.Equal(t, a.ProviderPaymentID == of, slices.Contains(r.open(t), "payment_reversed  19.99 EUR"), r.open(t))
	if a.ProviderPaymentID == of {
		require.Zero(t, r.attempt(t, a.ID).Held(), "it is compared")
		require.Empty(t, r.accounts(t))
		return
	}
	require.Equal(t, map[string]int64{"assets:provider:bank:receivable": price, "income:sales": -price}, r.accounts(t), "the payment that is recorded here")
}

// A refund that failed is in some books without the refund. If the refund was read before, the reversal takes it back. Otherwise nothing
// was refunded, and nothing is to be reviewed. A recorded refund is reversed in any case.
func TestAFailedRefundTakesItsEntryBack(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ recorded, read bool }{{true, true}, {true, false}, {false, false}} {
		t.Run(fmt.Sprintf("recorded_%t_read_%t", tt.recorded, tt.read), func(t *testing.T) {
			t.Parallel()
			r := newEnv(t)
			a := r.pay(t, "A-1")
			capture := captured(a.ProviderPaymentID)
			refund, back := reconcileEntry("re_1", a.ProviderPaymentID, payment.MovementRefund, "re_1", euros(500)),
				reconcileEntry("re_1/reversal", a.ProviderPaymentID, payment.MovementRefundReversal, "re_1", euros(500))
			foreign := reconcileEntry("re_2/reversal", "pay_of-others", payment.MovementRefundReversal, "re_2", euros(500))
			back.Undoes, foreign.Undoes = "re_1", "re_2"
			r.bank.books = []gateway.Entry{capture}
			entries := []string{"cap_pay_A-1"}
			if tt.recorded {
				r.bank.shown(a.ProviderPaymentID, gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: "re_1", Money: new(euros(500))})
				_, err := r.Payments.Ask(t.Context(), a.ID, payment.Cause{Kind: payment.CauseCheck, ID: "test"})
				require.NoError(t, err)
			}
			if tt.read {
				r.bank.books, entries = append(r.bank.books, refund), append(entries, "re_1", "re_1/reversal")
				r.reconcile(t)
				require.EqualValues(t, 500, r.attempt(t, a.ID).Refunded)
			}
			r.bank.books = []gateway.Entry{capture, back, foreign}
			r.reconcile(t)
			require.Equal(t, 1, r.count.Foreign)
			r.reconcile(t)
			require.Equal(t, 2, r.count.Agreed)
			require.Equal(t, entries, rows(t, r, "SELECT entry_id FROM settlements UNION SELECT entry_id FROM account_entries ORDER BY 1"))
			require.Zero(t, r.attempt(t, a.ID).Refunded)
			require.Equal(t, map[string]int64{"assets:provider:bank:balance": 1940, "expenses:fees:bank": 59, "income:sales": -price}, r.accounts(t))
			require.Equal(t, tt.recorded, len(r.open(t)) == 1, r.open(t))
		})
	}
}
