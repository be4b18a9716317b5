package reconcile_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/ledger/reconcile"
	"github.com/paylatch/paylatch/internal/payment"
)

// reconcileDays is how long the time is that the books of the property cover.
const reconcileDays = 10

// TestAnyOrderOfEntriesAndSpans: entries in any order and number, of spans that are cut anywhere and run in any order, repeated and cut
// off, end as one run over all.
func TestAnyOrderOfEntriesAndSpans(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			marks := make([]string, 12)
			for i := range marks {
				marks[i] = payment.OnlyCell.NewID().String()
			}
			begin := time.Now().Add(-reconcileDays * 24 * time.Hour)
			whole := []gateway.Span{{From: begin, To: begin.Add((reconcileDays*24 + 1) * time.Hour)}}
			once := ending(t, rand.New(rand.NewPCG(seed, 1)), marks, begin, whole, nil)
			mix := rand.New(rand.NewPCG(seed, 2))
			require.Equal(t, once, ending(t, rand.New(rand.NewPCG(seed, 1)), marks, begin, cut(mix, whole[0]), mix))
		})
	}
}

// cut cuts a span at random, and adds some parts twice, in any order.
func cut(mix *rand.Rand, whole gateway.Span) (parts []gateway.Span) {
	length := int(whole.To.Sub(whole.From).Minutes())
	at := []int{0, length}
	for range 1 + mix.IntN(5) {
		at = append(at, 1+mix.IntN(length-1))
	}
	slices.Sort(at)
	for i, from := range at[:len(at)-1] {
		if from < at[i+1] {
			part := gateway.Span{From: whole.From.Add(time.Duration(from) * time.Minute), To: whole.From.Add(time.Duration(at[i+1]) * time.Minute)}
			parts = append(parts, slices.Repeat([]gateway.Span{part}, 1+mix.IntN(2))...)
		}
	}
	mix.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return parts
}

// ending makes the payments and the books of a seed, runs over spans, and returns the stored state. With mix the books
// are in any order, with repetitions, and runs are cut off.
func ending(t *testing.T, seed *rand.Rand, marks []string, begin time.Time, spans []gateway.Span, mix *rand.Rand) []string {
	t.Helper()
	r := newEnv(t)
	for i, mark := range marks {
		r.live(t, seed, i, mark, begin)
	}
	for _, span := range spans {
		if mix != nil {
			r.shuffle(mix)
			if mix.IntN(3) == 0 {
				at := mix.IntN(len(r.bank.books))
				r.bank.between = func(i int) error {
					if i == at {
						return errDown
					}
					return nil
				}
				require.ErrorIs(t, r.tryReconcile(t, func(q *reconcile.Request) { q.Span = span }), errDown)
				r.bank.between = nil
			}
		}
		r.reconcile(t, func(q *reconcile.Request) { q.Span = span })
	}
	return r.stored(t)
}

// live adds one payment, and the provider's record of it.
func (r *env) live(t *testing.T, seed *rand.Rand, i int, mark string, begin time.Time) {
	t.Helper()
	order := fmt.Sprintf("A-%02d", i)
	silent := seed.IntN(2) == 0
	add := func(day int, e gateway.Entry) {
		e.Movement.At = begin.Add(time.Duration(day)*24*time.Hour + time.Duration(seed.IntN(24*60))*time.Minute)
		r.bank.books = append(r.bank.books, e)
	}
	switch seed.IntN(7) {
	case 0: // others'
		add(seed.IntN(reconcileDays), captured("pay_x"+order))
		return
	case 1: // ours, and lost here
		e := captured("pay_y" + order)
		e.References = []string{mark}
		add(seed.IntN(reconcileDays), e)
		return
	case 2: // the provider has lost it
		a := r.pay(t, order)
		r.bank.fails[a.ProviderPaymentID] = gateway.ErrNoSuchPayment
		return
	case 3: // its success was not reported
		r.bank.next = gateway.Outcome{Event: fsm.EventProcessing}
		a := r.pay(t, order)
		if !silent {
			money := euros(price)
			r.bank.stands[a.ProviderPaymentID] = gateway.Outcome{Event: fsm.EventSucceeded, ProviderPaymentID: a.ProviderPaymentID, Money: &money}
		}
		add(seed.IntN(reconcileDays), captured(a.ProviderPaymentID))
		return
	}
	a := r.pay(t, order)
	add(0, captured(a.ProviderPaymentID))
	for n := range seed.IntN(4) {
		refund, money := fmt.Sprintf("re_%s-%d", order, n), euros(int64(1+seed.IntN(300)))
		add(1+n, reconcileEntry("r"+refund, a.ProviderPaymentID, payment.MovementRefund, refund, money))
		if !silent {
			r.bank.shown(a.ProviderPaymentID, gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: refund, Money: &money})
		}
	}
	if seed.IntN(2) == 0 {
		add(3, reconcileEntry("d"+order, a.ProviderPaymentID, payment.MovementChargeback, "dp_"+order, euros(500)))
		if seed.IntN(2) == 0 {
			add(6, reconcileEntry("w"+order, a.ProviderPaymentID, payment.MovementChargebackReversal, "dp_"+order, euros(500)))
		}
	}
}

// shuffle puts the books in any order, with some entries twice.
func (r *env) shuffle(mix *rand.Rand) {
	books := r.bank.books
	for range len(books) / 3 {
		books = append(books, books[mix.IntN(len(books))])
	}
	mix.Shuffle(len(books), func(i, j int) { books[i], books[j] = books[j], books[i] })
	r.bank.books = books
}

// stored is the stored state after runs, except times and ids of ours.
func (r *env) stored(t *testing.T) (all []string) {
	t.Helper()
	for _, sql := range []string{
		`SELECT concat_ws(' ', order_id, status, amount_captured, amount_refunded, amount_disputed) FROM payment_attempts ORDER BY 1`,
		`SELECT concat_ws(' ', a.order_id, m.kind, m.source, m.provider_id, m.amount, m.payment) FROM money_movements m JOIN payment_attempts a USING (attempt_id) ORDER BY 1`,
		`SELECT concat_ws(' ', order_id, provider_refund_id, status, amount, origin) FROM refunds ORDER BY 1`,
		`SELECT concat_ws(' ', kind, order_id, account, about, about_id) FROM discrepancies ORDER BY 1`,
	} {
		all = append(all, rows(t, r, sql)...)
	}
	return append(all, r.settlements(t)...)
}
