package engine_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// Two orders with the same reports of the provider, in another order and in other requests, end
// the same, as long as it does not report of one payment both that it succeeded and that it
// failed: there the first that arrives decides.
func TestTheOrderOfWebhooksDoesNotMatter(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	rapid.Check(t, func(rt *rapid.T) {
		w := m.world(rt)
		call := rapid.SampledFrom([]string{staysOpen, openUnheard, wantsCustomer, isPaid, isDeclined}).Draw(rt, "the call of both pays")
		capture, taken := anyCapture.Draw(rt, "capture of both"), int64(price)
		if capture == payment.CaptureManual {
			taken = rapid.SampledFrom([]int64{price, 1500}).Draw(rt, "captured of both")
		}
		never := rapid.SampledFrom([]webhooks.Kind{webhooks.KindFailed, webhooks.KindSucceeded}).Draw(rt, "what is never said")
		said := rapid.SliceOfN(anyNotice(never, taken), 1, 8).Draw(rt, "said of A")
		shuffled := rapid.Permutation(said).Draw(rt, "said of B")
		a, aTold := w.playOut("A", call, capture, said, 1)
		b, bTold := w.playOut("B", call, capture, shuffled, rapid.IntRange(1, 8).Draw(rt, "in requests of"))
		if a != b {
			rt.Fatalf("what was said in another order ends otherwise:\nA is %+v\nB is %+v", a, b)
		}
		if !slices.Equal(aTold, bTold) {
			rt.Fatalf("of A a person is told %q, of B %q", aTold, bTold)
		}
	})
}

// word is the content of a webhook.
type word struct {
	Kind webhooks.Kind
	// Movement is of a chargeback that has a name.
	Movement string
	// Refund is the state of a refund, Amount the captured, refunded or reversed amount.
	Refund string
	Amount int64
	// ByItsID is set where it names the payment by the provider's id only.
	ByItsID bool
}

func anyNotice(never webhooks.Kind, taken int64) *rapid.Generator[word] {
	var all []word
	for _, kind := range []webhooks.Kind{
		webhooks.KindProcessing, webhooks.KindActionRequired, webhooks.KindAuthorized, webhooks.KindSoftFailed, webhooks.KindFailed,
		webhooks.KindDisputed,
	} {
		all = append(all, word{Kind: kind})
	}
	all = append(all, word{Kind: webhooks.KindSucceeded, Amount: taken})
	for _, amount := range []int64{500, price} {
		all = append(all, word{Kind: webhooks.KindReversed, Amount: amount})
	}
	for _, id := range []string{"dp-1", "dp-2", ""} {
		all = append(all, word{Kind: webhooks.KindChargeback, Movement: id, Amount: 500}, word{Kind: webhooks.KindChargebackReversed, Movement: id, Amount: 500})
	}
	for _, id := range []string{"re-1", "re-2"} {
		all = append(all, word{Kind: webhooks.KindRefundPending, Refund: id, Amount: 500}, word{Kind: webhooks.KindRefundSucceeded, Refund: id, Amount: 500})
	}
	all = slices.DeleteFunc(all, func(w word) bool { return w.Kind == never })
	for _, w := range all {
		w.ByItsID = true
		all = append(all, w)
	}
	return rapid.SampledFrom(all)
}

func (s word) about(a payment.Attempt) webhooks.Event {
	id := "ch-" + a.ID.String()
	e := event(s.Kind, a.ID.String(), id)
	e.ProviderPaymentID = id
	if s.ByItsID {
		e.References = []string{id}
	}
	if s.Amount > 0 {
		e.Money = &webhooks.Money{Minor: s.Amount, Currency: "EUR"}
	}
	if s.Movement != "" {
		e.MovementID = s.Movement + string(a.OrderID)
	}
	if s.Refund != "" {
		e.RefundID = s.Refund + string(a.OrderID)
	}
	return e
}

// ending has the fields that must be the same for both. The former holds of an attempt that has failed are left out: it
// is looked up.
type ending struct {
	State                                    fsm.State
	Authorized, Captured, Disputed, Refunded int64
	Foreign                                  bool
	Intent                                   payment.OperationKind
	Failed                                   bool
}

// playOut pays an order, delivers the webhooks, and returns the end of the payment and the
// discrepancies that were opened.
func (w *world) playOut(letter, call string, capture payment.CaptureMode, said []word, together int) (ending, []string) {
	p, run := w.press(w.services[0], letter, "1", call, capture)
	w.start(run)
	w.must(p.err)
	for batch := range slices.Chunk(said, together) {
		events := make([]webhooks.Event, len(batch))
		for i, s := range batch {
			events[i] = s.about(p.paid.Attempt)
		}
		verdicts, err := w.services[0].Intake(w.ctx, w.received(events...))
		w.must(err)
		w.Logf("%s hears %+v: %s", letter, batch, verdicts)
	}
	for range 2 {
		w.retry()
	}
	a, err := w.store.Attempt(w.ctx, p.paid.ID)
	w.must(err)
	w.read()
	var told []string
	for _, o := range w.opened {
		if strings.Contains(o.Attempt, a.ID.String()) {
			told = append(told, o.Kind)
		}
	}
	slices.Sort(told)
	return ending{a.State, a.Authorized, a.Captured, a.Disputed, a.Refunded, a.ForeignMoney, w.standing(a).Intent.Kind, a.Failure != nil}, slices.Compact(told)
}
