package reconcile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/ledger/reconcile"
	"github.com/paylatch/paylatch/internal/payment"
)

// forgotten are the entries of a payment that was captured, and refunded in part, before the database was restored to a time before it.
func forgotten() (payment.AttemptID, []gateway.Entry) {
	const order = "A-1"
	id := payment.AttemptID(payment.OnlyCell.NewIDAt(time.Now().Add(-time.Hour)))
	took, paid := captured("pay_"+order), reconcileEntry("ref_"+order, "pay_"+order, payment.MovementRefund, "re_"+order, euros(500))
	for _, e := range []*gateway.Entry{&took, &paid} {
		e.Order, e.References = payment.OrderID(order), []string{id.String(), "ch_" + order}
	}
	return id, []gateway.Entry{paid, took}
}

// restore holds the account, as if a backup of two hours ago had been put in the place of its database.
func (r *env) restore() {
	r.restored.Store(&reconcile.Hold{Account: reconcileAccount, Since: time.Now().Add(-2 * time.Hour), Until: time.Now()})
}

// A payment that a restored database lacks is made again from the books: with its id, its names and all movements of its
// money. The order can't be paid again.
func TestForgottenPaymentIsMadeAgain(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	require.NoError(t, r.order(t, "A-1"))
	r.restore()
	id, entries := forgotten()
	r.bank.books = entries
	for range 2 {
		r.reconcile(t)
		a := r.attempt(t, id)
		require.Equal(t, fsm.Succeeded, a.State)
		require.EqualValues(t, price, a.Captured)
		require.EqualValues(t, 500, a.Refunded)
		require.Equal(t, payment.OriginImported, a.Origin)
		require.Equal(t, []string{"unknown_here  pay_A-1"}, r.open(t), "the shop may have missed its events")
	}
	require.Equal(t, reconcile.Count{Entries: 2, Agreed: 2}, r.count)
	_, err := r.press(t, "A-1")
	require.ErrorIs(t, err, payment.ErrOrderPaid)
	require.Equal(t, []string{"A-1"}, rows(t, r, "SELECT order_id FROM attempt_references WHERE reference = 'ch_A-1'"))
}

// An order that is lost, too, belongs to the reserved user: the shop can't make it again and have it paid twice. It gets
// a discrepancy.
func TestForgottenOrderIsNotPaidTwice(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	r.restore()
	id, entries := forgotten()
	r.bank.books = entries
	for range 2 {
		r.reconcile(t)
		require.Equal(t, []string{"unknown_here  pay_A-1"}, r.open(t))
	}
	require.Equal(t, fsm.Succeeded, r.attempt(t, id).State)
	require.ErrorIs(t, r.order(t, "A-1"), payment.ErrOrderExists)
	require.Equal(t, []string{"paylatch"}, rows(t, r, "SELECT user_id FROM orders"))
	require.Contains(t, rows(t, r, "SELECT text FROM discrepancies")[0], "the order without a customer")
}

// TestForgottenOrderIsCreatedMeanwhile has the customer create a lost order anew after the run has looked for it. The payment of the
// books pays this order, if it has the same amount; otherwise the account stays held.
func TestForgottenOrderIsCreatedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]int64{"with the same amount": 0, "with another amount": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t)
			r.restore()
			id, entries := forgotten()
			entries[1].Movement.Money.Minor += more
			r.bank.books = entries
			create := func() { require.NoError(t, r.order(t, "A-1")) }
			r.meanwhile.Store(&create)
			if more > 0 {
				require.ErrorContains(t, r.tryReconcile(t), "can't be recorded again yet")
				require.Zero(t, r.attempt(t, id).ID)
				return
			}
			r.reconcile(t)
			require.Equal(t, fsm.Succeeded, r.attempt(t, id).State)
			_, err := r.press(t, "A-1")
			require.ErrorIs(t, err, payment.ErrOrderPaid)
		})
	}
}

func TestForgottenPaymentThatCantBeMadeAgain(t *testing.T) {
	t.Parallel()
	live, test := true, false
	for name, tt := range map[string]struct {
		change func(entries []gateway.Entry)
		// under is the state of the order's attempt; empty if there is no attempt.
		under fsm.Event
		// held is set if that state may change: the run does not release the account.
		held bool
		text string
	}{
		"its order is being paid":  {under: fsm.EventProcessing, held: true, text: "unfinished attempt"},
		"its order was paid again": {under: fsm.EventSucceeded, text: "is paid by attempt"},
		"an order id of no order": {held: true, change: func(all []gateway.Entry) {
			all[0].Order = payment.OrderID(strings.Repeat("o", 200))
			all[1].Order = all[0].Order
		}, text: "can't be recorded again"},
		"two currencies": {held: true, change: func(all []gateway.Entry) {
			all[0].Movement.Kind, all[0].Movement.Money.Currency = payment.MovementCapture, "CHF"
		}, text: "Look up the payment"},
		"no mark of ours":           {change: func(all []gateway.Entry) { all[0].References, all[1].References = nil, nil }, text: "Look up the payment"},
		"more than the order":       {held: true, change: func(all []gateway.Entry) { all[1].Movement.Money.Minor++ }, text: "Look up the payment"},
		"another currency":          {held: true, change: func(all []gateway.Entry) { all[1].Movement.Money.Currency = "CHF" }, text: "Look up the payment"},
		"in test mode":              {change: func(all []gateway.Entry) { all[1].Live = &test }, text: "Look up the payment"},
		"to another payee":          {change: func(all []gateway.Entry) { all[1].Payee = "somebody" }, text: "Look up the payment"},
		"only its refund is listed": {change: func(all []gateway.Entry) { all[1] = all[0] }, text: "Look up the payment"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t)
			of := r.Accounts.Get(reconcileAccount)
			of.Live, of.Payees = &live, []string{"us"}
			r.Accounts.Replace(map[string]gateway.Account{reconcileAccount: of})
			require.NoError(t, r.order(t, "A-1"))
			r.restore()
			if tt.under != "" {
				money := euros(price)
				r.bank.next = gateway.Outcome{Event: tt.under, Money: &money}
				_, err := r.press(t, "A-1")
				require.NoError(t, err)
				_, err = r.db.Exec(t.Context(), "UPDATE attempt_references SET reference = 'pay_other' WHERE reference = 'pay_A-1'")
				require.NoError(t, err)
			}
			id, entries := forgotten()
			if tt.change != nil {
				tt.change(entries)
			}
			r.bank.books = entries
			asked := gateway.Span{From: time.Now().Add(-time.Minute), To: time.Now()}
			if err := r.tryReconcile(t); tt.held {
				require.ErrorContains(t, err, "can't be recorded again yet")
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, []string{"unknown_here  pay_A-1"}, r.open(t))
			require.Contains(t, rows(t, r, "SELECT text FROM discrepancies")[0], tt.text)
			_, covered, err := r.store.RunOf(t.Context(), reconcileAccount, asked, time.Time{})
			require.NoError(t, err)
			require.Equal(t, !tt.held, covered)
			require.Zero(t, r.attempt(t, id).ID)
		})
	}
}

// TestForgottenPaymentNeedsTheFullAmount has the books list a part of an order's amount, as one capture or as several, under the
// id of a forgotten attempt. Only the full amount pays the order again; a part is a case for a person, and the account stays held.
func TestForgottenPaymentNeedsTheFullAmount(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		captures []int64
		made     bool
	}{
		"a cent":         {captures: []int64{1}},
		"all but a cent": {captures: []int64{price - 1}},
		"two parts":      {captures: []int64{price / 2, price / 4}},
		"one capture":    {captures: []int64{price}, made: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t)
			require.NoError(t, r.order(t, "A-1"))
			r.restore()
			id, entries := forgotten()
			for i, minor := range tt.captures {
				part := entries[1]
				part.ID, part.Movement.ID = fmt.Sprint("cap_", i), fmt.Sprint("cap_", i)
				part.Movement.Money, part.Fee, part.Net = euros(minor), nil, nil
				r.bank.books = append(r.bank.books, part)
			}
			err := r.tryReconcile(t)
			require.Equal(t, []string{"unknown_here  pay_A-1"}, r.open(t))
			if tt.made {
				require.NoError(t, err)
				require.EqualValues(t, price, r.attempt(t, id).Captured)
				return
			}
			require.ErrorContains(t, err, "can't be recorded again yet")
			require.Zero(t, r.attempt(t, id).ID)
			_, err = r.press(t, "A-1")
			require.NoError(t, err, "nothing has paid the order")
		})
	}
}

// TestHoldHasTwoEdges has the clocks of processes differ from the database's by 90 seconds, in both directions: attempts that they
// made at either edge of the held time are made again. Those of another day are not.
func TestHoldHasTwoEdges(t *testing.T) {
	t.Parallel()
	since, until := time.Now().Add(-2*time.Hour), time.Now().Add(-90*time.Minute)
	for name, tt := range map[string]struct {
		at   time.Time
		made bool
	}{
		"a clock behind, at the first edge": {at: since.Add(-90 * time.Second), made: true},
		"a clock ahead, at the last edge":   {at: until.Add(90 * time.Second), made: true},
		"the day before":                    {at: since.AddDate(0, 0, -1)},
		"later":                             {at: until.Add(80 * time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t)
			require.NoError(t, r.order(t, "A-1"))
			r.restored.Store(&reconcile.Hold{Account: reconcileAccount, Since: since, Until: until})
			_, entries := forgotten()
			id := payment.AttemptID(payment.OnlyCell.NewIDAt(tt.at))
			for i := range entries {
				entries[i].References = []string{id.String()}
			}
			r.bank.books = entries
			r.reconcile(t)
			require.Equal(t, tt.made, r.attempt(t, id).ID == id)
			require.Equal(t, []string{"unknown_here  pay_A-1"}, r.open(t))
		})
	}
}

// Metadata that anybody may have written into a payment makes no attempt while the account is not held. During a hold,
// only payments of the lost period are made.
func TestNothingIsMadeWithoutAHold(t *testing.T) {
	t.Parallel()
	for name, hold := range map[string]*reconcile.Hold{
		"not held":        nil,
		"of another time": {Account: reconcileAccount, Since: time.Now().Add(-9 * time.Hour), Until: time.Now().Add(-8 * time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t)
			require.NoError(t, r.order(t, "A-1"))
			r.restored.Store(hold)
			_, r.bank.books = forgotten()
			r.reconcile(t)
			require.Equal(t, []string{"unknown_here  pay_A-1"}, r.open(t))
			_, err := r.press(t, "A-1")
			require.NoError(t, err)
		})
	}
}

// An unreadable entry does not keep others from being compared, and does not count as compared.
func TestUnreadEntriesDoNotEndARun(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	a := r.pay(t, "A-1")
	r.bank.books, r.bank.unread = []gateway.Entry{captured(a.ProviderPaymentID)}, fmt.Errorf("%w: 1 item", gateway.ErrUnreadable)
	require.ErrorIs(t, r.tryReconcile(t), gateway.ErrUnreadable)
	require.Equal(t, reconcile.Count{Entries: 1, Agreed: 1}, r.count)
	require.Equal(t, []string{"true"}, rows(t, r, "SELECT (finished_at IS NOT NULL AND failure <> '')::text FROM reconciliations"))
	_, covered, err := r.store.RunOf(t.Context(), reconcileAccount, gateway.Span{From: time.Now().Add(-time.Hour), To: time.Now()}, time.Time{})
	require.NoError(t, err)
	require.False(t, covered)
}

func TestRunHeld(t *testing.T) {
	t.Parallel()
	held := func(t *testing.T, r *env, account string, until time.Time) bool {
		t.Helper()
		_, released, err := r.RunHeld(t.Context(), reconcile.Hold{Account: account, Since: until.Add(-10 * time.Minute), Until: until}, func(payment.Discrepancy) {})
		require.NoError(t, err)
		return released
	}
	t.Run("reads the books", func(t *testing.T) {
		t.Parallel()
		r := newEnv(t)
		require.NoError(t, r.order(t, "A-1"))
		r.restore()
		_, r.bank.books = forgotten()
		require.True(t, held(t, r, reconcileAccount, time.Now().Add(-time.Second)))
		_, err := r.press(t, "A-1")
		require.ErrorIs(t, err, payment.ErrOrderPaid)
	})
	t.Run("waits for the books", func(t *testing.T) {
		t.Parallel()
		r := newEnv(t)
		late := r.Accounts.Get(reconcileAccount)
		late.BooksLag = time.Hour
		r.Accounts.Replace(map[string]gateway.Account{reconcileAccount: late})
		require.False(t, held(t, r, reconcileAccount, time.Now().Add(-time.Minute)))
		require.Empty(t, rows(t, r, "SELECT account FROM reconciliations"))
		require.True(t, held(t, r, reconcileAccount, time.Now().Add(-61*time.Minute)))
	})
	t.Run("not by books without marks", func(t *testing.T) {
		t.Parallel()
		r := newEnv(t)
		unmarked := r.Accounts.Get(reconcileAccount)
		unmarked.BooksMarks = gateway.MarksNone
		r.Accounts.Replace(map[string]gateway.Account{reconcileAccount: unmarked})
		_, r.bank.books = forgotten()
		for i := range r.bank.books {
			r.bank.books[i].References, r.bank.books[i].Order = nil, ""
		}
		until := time.Now().Add(-time.Second)
		require.False(t, held(t, r, reconcileAccount, until))
		require.NoError(t, r.tryReconcile(t), "what is forgotten looks like a payment of others")
		require.False(t, held(t, r, reconcileAccount, until), "another run has not compared it either")
		q := reconcile.Request{Account: reconcileAccount, By: "cli:ann", Span: gateway.Span{From: until.Add(-time.Hour), To: time.Now()}}
		require.NoError(t, r.Compared(t.Context(), q, "the dashboard has nothing of that hour"))
		require.True(t, held(t, r, reconcileAccount, until))
	})
	t.Run("fails", func(t *testing.T) {
		t.Parallel()
		r := newEnv(t)
		r.bank.unread = gateway.ErrUnreadable
		_, released, err := r.RunHeld(t.Context(), reconcile.Hold{Account: reconcileAccount, Since: time.Now().Add(-time.Minute), Until: time.Now().Add(-time.Second)}, func(payment.Discrepancy) {})
		require.ErrorIs(t, err, gateway.ErrUnreadable)
		require.False(t, released)
		r.bank.unread = nil
		require.False(t, held(t, r, reconcileAccount, time.Now().Add(-time.Second)), "tried a moment ago")
	})
	t.Run("by hand", func(t *testing.T) {
		t.Parallel()
		r := newEnv(t)
		until := time.Now().Add(-time.Second)
		require.False(t, held(t, r, "bookless", until))
		q := reconcile.Request{Account: "bookless", By: "cli:ann", Span: gateway.Span{From: until.Add(-time.Hour), To: time.Now()}}
		require.ErrorIs(t, r.Compared(t.Context(), q, ""), reconcile.ErrReason)
		require.NoError(t, r.Compared(t.Context(), q, "the dashboard has nothing of that hour"))
		require.True(t, held(t, r, "bookless", until))
		require.Equal(t, []string{"person cli:ann the dashboard has nothing of that hour"}, rows(t, r, "SELECT concat_ws(' ', source, started_by, reason) FROM reconciliations"))
	})
}
