package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/ledger/reconcile"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestRun(t *testing.T) {
	t.Parallel()
	t.Run("agrees", agrees)
	t.Run("agrees_by_what_it_is_made_of", agreesByWhatItIsMadeOf)
	t.Run("claims", claims)
	t.Run("payout_comes_later", payoutComesLater)
	t.Run("lost_success", lostSuccess)
	t.Run("refund_only_there", refundOnlyThere)
	t.Run("undone_in_any_order", undoneInAnyOrder)
	t.Run("other_amount", otherAmount)
	t.Run("larger_total", largerTotal)
	t.Run("of_another_attempt", ofAnotherAttempt)
	t.Run("unknown_here", unknownHere)
	t.Run("unknown_at_provider", unknownAtProvider)
	t.Run("put_off", putOff)
	t.Run("earlier_merchant", earlierMerchant)
	t.Run("unanswered", unanswered)
	t.Run("killed", killed)
	t.Run("at_once", atOnce)
	t.Run("file", fromFile)
	t.Run("nothing_to_read", nothingToRead)
}

func agrees(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	one, two := r.pay(t, "A-1"), r.pay(t, "A-2")
	r.bank.books = []gateway.Entry{captured(one.ProviderPaymentID), captured(two.ProviderPaymentID), captured(one.ProviderPaymentID)}
	r.reconcile(t)
	require.Equal(t, reconcile.Count{Entries: 3, Agreed: 3}, r.count)
	require.Empty(t, r.bank.asked)
	require.Empty(t, r.open(t))
	require.Equal(t, []string{"cap_pay_A-1 A-1 capture 1999 59 1940 EUR ", "cap_pay_A-2 A-2 capture 1999 59 1940 EUR "}, r.settlements(t))
	require.Equal(t, []string{"books cli:test true 3"}, rows(t, r, "SELECT source || ' ' || started_by || ' ' || (finished_at IS NOT NULL)::text || ' ' || (counts->>'agreed') FROM reconciliations"))
}

// The books have the payment by its own id, the attempt the id of the page in which it was made. If that were a payment's id, the books
// would have another payment.
func agreesByWhatItIsMadeOf(t *testing.T) {
	t.Parallel()
	for contains, agreed := range map[bool]int{true: 1, false: 0} {
		r := newEnv(t)
		r.bank.contains = contains
		a := r.pay(t, "A-1")
		e := captured("PM1")
		e.References = []string{a.ID.String()}
		r.bank.books = []gateway.Entry{e}
		r.reconcile(t)
		require.Equal(t, agreed, r.count.Agreed, contains)
		require.Equal(t, agreed == 1, len(r.open(t)) == 0, contains)
	}
}

func (r *env) settlements(t *testing.T) []string {
	t.Helper()
	return rows(t, r, `SELECT concat_ws(' ', entry_id, order_id, kind, amount, coalesce(fee::text, '-'), coalesce(net::text, '-'), balance_currency, payout_id) FROM settlements ORDER BY 1`)
}

// A payout fills an empty payout; no other field of a settlement ever changes.
func payoutComesLater(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	e := captured(r.pay(t, "A-1").ProviderPaymentID)
	for _, step := range []struct {
		payout string
		fee    int64
		want   string
	}{{"", 59, ""}, {"po_1", 99, "po_1"}, {"po_2", 59, "po_1"}, {"", 59, "po_1"}} {
		fee := euros(step.fee)
		e.Payout, e.Fee = step.payout, &fee
		r.bank.books = []gateway.Entry{e}
		r.reconcile(t)
		require.Equal(t, []string{"cap_pay_A-1 A-1 capture 1999 59 1940 EUR " + step.want}, r.settlements(t))
	}
	for _, change := range []string{"payout_id = 'po_9'", "fee = 1", "payout_id = ''", "attempt_id = gen_random_uuid()"} {
		_, err := r.db.Exec(t.Context(), "UPDATE settlements SET "+change)
		require.ErrorContains(t, err, "only an empty payout, fee or net is filled", change)
	}
}

// A payment with a lost success is looked up once. If the lookup shows nothing, the entry counts.
func lostSuccess(t *testing.T) {
	t.Parallel()
	for name, silent := range map[string]bool{"looked_up": false, "applied": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t)
			r.bank.next = gateway.Outcome{Event: fsm.EventProcessing}
			a := r.pay(t, "A-1")
			require.Equal(t, fsm.Processing, a.State)
			want := reconcile.Count{Entries: 1, Applied: 1}
			if !silent {
				money := euros(price)
				r.bank.stands[a.ProviderPaymentID] = gateway.Outcome{Event: fsm.EventSucceeded, ProviderPaymentID: a.ProviderPaymentID, Money: &money}
				want = reconcile.Count{Entries: 1, LookedUp: 1}
			}
			r.bank.books = []gateway.Entry{captured(a.ProviderPaymentID)}
			r.reconcile(t)
			require.Equal(t, want, r.count)
			require.Len(t, r.bank.asked, 1)
			a = r.attempt(t, a.ID)
			require.Equal(t, fsm.Succeeded, a.State)
			require.EqualValues(t, price, a.Captured)
			require.Len(t, a.Movements, 1)
			require.Empty(t, r.open(t))
		})
	}
}

func refundOnlyThere(t *testing.T) {
	t.Parallel()
	for name, silent := range map[string]bool{"looked_up": false, "applied": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t)
			a := r.pay(t, "A-1")
			want := reconcile.Count{Entries: 3, Agreed: 1, Applied: 2}
			if !silent {
				five, three := euros(500), euros(300)
				r.bank.shown(a.ProviderPaymentID, gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: "re_1", Money: &five},
					gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: "re_2", Money: &three})
				want = reconcile.Count{Entries: 3, Agreed: 1, LookedUp: 2}
			}
			r.bank.books = []gateway.Entry{
				reconcileEntry("e1", a.ProviderPaymentID, payment.MovementRefund, "re_1", euros(500)), captured(a.ProviderPaymentID),
				reconcileEntry("e2", a.ProviderPaymentID, payment.MovementRefund, "re_2", euros(300)),
			}
			r.reconcile(t)
			require.Equal(t, want, r.count)
			require.Len(t, r.bank.asked, 1, "an attempt once a run")
			require.EqualValues(t, 800, r.attempt(t, a.ID).Refunded)
			require.Equal(t, []string{"provider re_1 500 succeeded", "provider re_2 300 succeeded"},
				rows(t, r, "SELECT concat_ws(' ', origin, provider_refund_id, amount, status) FROM refunds ORDER BY 1"))
			require.Empty(t, r.open(t))
			r.reconcile(t)
			require.Equal(t, reconcile.Count{Entries: 3, Agreed: 3}, r.count)
		})
	}
}

// A reversal counts once, in any order of the books.
func undoneInAnyOrder(t *testing.T) {
	t.Parallel()
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			t.Parallel()
			r := newEnv(t)
			a := r.pay(t, "A-1")
			all := []gateway.Entry{
				reconcileEntry("e4", a.ProviderPaymentID, payment.MovementRefund, "re_1", euros(500)),
				reconcileEntry("e3", a.ProviderPaymentID, payment.MovementRefundReversal, "re_1", euros(500)),
				reconcileEntry("e2", a.ProviderPaymentID, payment.MovementChargeback, "dp_1", euros(700)),
				reconcileEntry("e1", a.ProviderPaymentID, payment.MovementChargebackReversal, "dp_1", euros(700)),
			}
			for i := range all {
				all[i].Movement.At = all[0].Movement.At // their ids are in the wrong order
			}
			for _, i := range order {
				r.bank.books = append(r.bank.books, all[i])
			}
			r.reconcile(t)
			require.Equal(t, reconcile.Count{Entries: 4, Applied: 4}, r.count)
			a = r.attempt(t, a.ID)
			require.EqualValues(t, price, a.Held())
			require.Len(t, a.Movements, 5)
			open := r.open(t)
			require.Len(t, open, 2)
			require.Equal(t, "payment_reversed  chargeback dp_1", open[0])
			require.Contains(t, open[1], "refund_reversed")
		})
	}
}

func otherAmount(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		money payment.Money
		want  string
	}{
		"amount":   {euros(501), "amount_mismatch books refund re_1"},
		"currency": {payment.Money{Minor: 500, Currency: "USD"}, "currency_mismatch books refund re_1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t)
			a := r.pay(t, "A-1")
			r.bank.books = []gateway.Entry{reconcileEntry("e1", a.ProviderPaymentID, payment.MovementRefund, "re_1", euros(500))}
			r.reconcile(t)
			r.bank.books = []gateway.Entry{reconcileEntry("e1", a.ProviderPaymentID, payment.MovementRefund, "re_1", tt.money)}
			for range 2 {
				r.reconcile(t)
				require.Equal(t, reconcile.Count{Entries: 1, Review: 1}, r.countless(), "the attempt without a capture entry beside")
				require.Equal(t, []string{tt.want}, kinds(r.found))
				require.Equal(t, []string{tt.want}, r.open(t), "once for its cause")
			}
			require.EqualValues(t, 500, r.attempt(t, a.ID).Refunded)
		})
	}
}

// countless are the counts of the entries.
func (r *env) countless() reconcile.Count {
	n := r.count
	n.Missing = 0
	return n
}

func largerTotal(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	a := r.pay(t, "A-1")
	r.bank.books = []gateway.Entry{reconcileEntry("e1", a.ProviderPaymentID, payment.MovementCapture, "", euros(2500))}
	r.reconcile(t)
	require.Equal(t, reconcile.Count{Entries: 1, Applied: 1}, r.count)
	require.EqualValues(t, 2500, r.attempt(t, a.ID).Captured)
	require.Equal(t, []string{"amount_mismatch  25.00 EUR movement 2"}, r.open(t))
	r.bank.books = []gateway.Entry{reconcileEntry("e2", a.ProviderPaymentID, payment.MovementCapture, "", euros(100))}
	r.reconcile(t)
	require.Equal(t, reconcile.Count{Entries: 1, Agreed: 1}, r.count, "a total that is not above ours")
}

// A movement that another attempt has stays there, and is seen.
func ofAnotherAttempt(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	one, two := r.pay(t, "A-1"), r.pay(t, "A-2")
	r.bank.books = []gateway.Entry{reconcileEntry("e1", one.ProviderPaymentID, payment.MovementChargeback, "dp_1", euros(price))}
	r.reconcile(t)
	r.bank.books = []gateway.Entry{reconcileEntry("e2", two.ProviderPaymentID, payment.MovementChargeback, "dp_1", euros(price))}
	r.reconcile(t)
	require.Equal(t, 1, r.count.Review)
	require.Zero(t, r.attempt(t, two.ID).Disputed)
	require.Contains(t, r.open(t), "needs_review books chargeback dp_1")
}

func unknownHere(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	r.pay(t, "A-1")
	marked := captured("pay_marked")
	marked.References = []string{payment.OnlyCell.NewID().String()}
	ordered := captured("pay_ordered")
	ordered.Order = "A-1"
	refunded := reconcileEntry("e9", "pay_ordered", payment.MovementRefund, "re_9", euros(100))
	refunded.Order = "A-1"
	elsewhere := captured("pay_elsewhere")
	elsewhere.Order = "B-7"
	r.bank.books = []gateway.Entry{captured("pay_A-1"), refunded, marked, ordered, elsewhere, captured("pay_foreign")}
	want := []string{"unknown_here  pay_marked", "unknown_here  pay_ordered"}
	for range 2 {
		r.reconcile(t)
		require.Equal(t, reconcile.Count{Entries: 6, Agreed: 1, Review: 3, Foreign: 2}, r.count)
		require.Equal(t, want, kinds(r.found))
		require.Equal(t, want, r.open(t))
	}
	require.Equal(t, []string{"bank  1999", "bank A-1 1999"}, rows(t, r, "SELECT account || ' ' || coalesce(order_id, '') || ' ' || amount FROM discrepancies ORDER BY 1"))
	require.Len(t, r.settlements(t), 1)

	r.reconcile(t, func(q *reconcile.Request) { q.Account = "strict" })
	require.Equal(t, reconcile.Count{Entries: 6, Review: 6}, r.count, "policy review: an account has names of its own")
}

func unknownAtProvider(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	lost, late := r.pay(t, "A-1"), r.pay(t, "A-2")
	r.bank.fails[lost.ProviderPaymentID] = gateway.ErrNoSuchPayment
	for range 2 {
		r.reconcile(t)
		require.Equal(t, reconcile.Count{Missing: 2, Lost: 1}, r.count)
		require.Equal(t, []string{"unknown_at_provider  "}, r.open(t))
		require.Equal(t, lost.ID, *r.found[0].AttemptID)
	}
	require.Len(t, r.bank.asked, 4)
	r.bank.books = []gateway.Entry{captured(late.ProviderPaymentID)}
	r.reconcile(t)
	require.Equal(t, reconcile.Count{Entries: 1, Agreed: 1, Missing: 1, Lost: 1}, r.count)
	r.reconcile(t, func(q *reconcile.Request) { q.Lag = time.Hour })
	require.Equal(t, reconcile.Count{Entries: 1, Agreed: 1}, r.count, "the books may be late")
}

// While the provider is spared, or another runner has the attempt, a lookup is tried again.
func putOff(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	a := r.pay(t, "A-1")
	var pauses []time.Duration
	r.Pause = func(_ context.Context, d time.Duration) error {
		if pauses = append(pauses, d); len(pauses) == 3 {
			delete(r.bank.fails, a.ProviderPaymentID)
		}
		return nil
	}
	r.bank.fails[a.ProviderPaymentID] = fmt.Errorf("a limit: %w", gateway.ErrThrottled)
	r.reconcile(t)
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, pauses)
	require.Equal(t, reconcile.Count{Missing: 1}, r.count)
}

// earlierMerchant: an account's books of now lack the payments of an earlier merchant, which are not looked up.
func earlierMerchant(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	r.pay(t, "A-1")
	of := r.Accounts.Get(reconcileAccount)
	of.Merchant = 1
	r.Accounts.Replace(map[string]gateway.Account{reconcileAccount: of})
	r.reconcile(t)
	require.Equal(t, reconcile.Count{Missing: 1, Unasked: 1}, r.count)
	require.Empty(t, r.bank.asked)
	require.Empty(t, r.open(t))
}

var errDown = errors.New("down")

// A run with failed lookups does not count as finished. Impossible lookups don't matter to it.
func unanswered(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	one, two := r.pay(t, "A-1"), r.pay(t, "A-2")
	r.bank.fails[one.ProviderPaymentID], r.bank.fails[two.ProviderPaymentID] = errDown, gateway.ErrInconclusive
	require.ErrorIs(t, r.tryReconcile(t), reconcile.ErrUnanswered)
	require.Equal(t, reconcile.Count{Missing: 2, Unasked: 1, Unanswered: 1}, r.count)
	require.Equal(t, []string{"1 some payments could not be looked up: run the command again later"}, rows(t, r, "SELECT failure FROM reconciliations WHERE finished_at IS NULL"))
	require.Empty(t, r.open(t))
}

// A run that is cut off in the middle keeps its finished part, and the next run ends like a run that was not cut off.
func killed(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	var ids []payment.AttemptID
	for i := range 5 {
		a := r.pay(t, fmt.Sprintf("A-%d", i))
		ids = append(ids, a.ID)
		for n := range 100 {
			e := reconcileEntry(fmt.Sprintf("e%d-%d", i, n), a.ProviderPaymentID, payment.MovementRefund, fmt.Sprintf("re_%d-%d", i, n), euros(1))
			r.bank.books = append(r.bank.books, e)
		}
	}
	for _, at := range []int{450, 250} {
		r.bank.between = func(i int) error {
			if i == at {
				return errDown
			}
			return nil
		}
		require.ErrorIs(t, r.tryReconcile(t), errDown)
	}
	require.Len(t, r.settlements(t), 400, "what was compared before")
	r.bank.between = nil
	r.reconcile(t)
	require.Equal(t, reconcile.Count{Entries: 500, Applied: 500}, r.countless())
	for _, id := range ids {
		require.EqualValues(t, 100, r.attempt(t, id).Refunded)
	}
	require.Equal(t, []string{"false", "false", "true"}, rows(t, r, "SELECT (finished_at IS NOT NULL)::text FROM reconciliations ORDER BY started_at"))
}

func atOnce(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	var ids []payment.AttemptID
	for i := range 8 {
		a := r.pay(t, fmt.Sprintf("A-%d", i))
		ids = append(ids, a.ID)
		r.bank.books = append(r.bank.books, captured(a.ProviderPaymentID), reconcileEntry(fmt.Sprintf("e%d", i), a.ProviderPaymentID, payment.MovementRefund, fmt.Sprintf("re_%d", i), euros(100)),
			reconcileEntry(fmt.Sprintf("x%d", i), fmt.Sprintf("pay_x%d", i), payment.MovementCapture, "", euros(1)))
		r.bank.books[len(r.bank.books)-1].Order = payment.OrderID(fmt.Sprintf("A-%d", i))
	}
	var all sync.WaitGroup
	errs := make([]error, 4)
	begin := make(chan struct{})
	for i := range errs {
		all.Go(func() {
			<-begin
			q := r.request()
			q.Found = func(payment.Discrepancy) {}
			_, errs[i] = r.Run(t.Context(), q)
		})
	}
	close(begin)
	all.Wait()
	require.NoError(t, errors.Join(errs...))
	for _, id := range ids {
		a := r.attempt(t, id)
		require.EqualValues(t, 100, a.Refunded)
		require.Len(t, a.Movements, 2)
	}
	require.Len(t, r.open(t), 8)
	require.Len(t, r.settlements(t), 16)
	require.Empty(t, r.verify(t))
}

// A run by hand ends where the books are complete, and is stored so. A file has all of its period.
func TestARunEndsWhereTheBooksAreComplete(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	late := r.Accounts.Get(reconcileAccount)
	late.BooksLag = 5 * 24 * time.Hour
	r.Accounts.Replace(map[string]gateway.Account{reconcileAccount: late})
	now := time.Now().Truncate(time.Second)
	r.Now = func() time.Time { return now }
	period := func(days int) func(*reconcile.Request) {
		return func(q *reconcile.Request) { q.Span = gateway.Span{From: now.AddDate(0, 0, -days), To: now} }
	}
	r.reconcile(t, period(8))
	require.Equal(t, []string{"72h0m0s"}, r.spans(t))
	require.Equal(t, []string{"true"}, rows(t, r, "SELECT (finished_at IS NOT NULL AND to_at = '"+now.AddDate(0, 0, -5).Format(time.RFC3339)+"')::text FROM reconciliations"))
	require.ErrorIs(t, r.tryReconcile(t, period(4)), reconcile.ErrIncomplete)
	require.Len(t, r.spans(t), 1, "nothing was read")
	r.reconcile(t, period(4), func(q *reconcile.Request) { q.File = strings.NewReader("c1 pay_foreign 5 0\n") })
	require.Contains(t, r.spans(t), "96h0m0s")
}
