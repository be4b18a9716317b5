package engine_test

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

// TestAmendAnyCourse is about orders that are amended beside pays, pages and late money: whatever comes first, no attempt is of an
// amount that its order did not have when its customer agreed, and a pending or paid attempt is of the present amount.
//
// The long run has 1,000 courses: -rapid.checks=1000.
func TestAmendAnyCourse(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	amended, charged := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		w := m.world(rt)
		w.p.inTurn, w.p.dated = true, true
		w.p.pages = rapid.SampledFrom([]bool{true, true, false}).Draw(rt, "customers pay on pages")
		all, some := w.actions(), map[string]func(*rapid.T){}
		for _, name := range []string{
			"", "pay", "pay anew", "the provider answers", "something happens at provider", "late money", "late money in dollars", "webhook",
			"ask the provider", "take over", "cancel", "amend an order", "amend and pay at once", "accept too little", "a person decides", "a try on a page",
		} {
			if do, ok := all[name]; ok {
				some[name] = do
			}
		}
		some["amend an order, more often"], some["amend and pay at once, more often"] = w.amend, w.amendAndPay
		rt.Repeat(some)
		w.end()
		m.last = w.last
		for _, had := range w.prices {
			amended += len(had) - 1
		}
		for _, d := range w.p.deals {
			if d.charged() {
				charged++
			}
		}
	})
	t.Logf("%d amendments, %d charges", amended, charged)
	require.Positive(t, amended)
	require.Positive(t, charged)
}

// anyPrice is a price of an amended order. Each is more than the partial amounts of the model.
var anyPrice = rapid.SampledFrom([]int64{price, price + 501, price - 299})

// amending makes an amendment that is not begun yet.
func (w *world) amending(s *service, letter string, to int64) (*error, func()) {
	req, cmd := w.fresh("amend order "+letter), amending(commands.AmendOrder{Amount: &to})
	cmd.OrderID = w.order(letter)
	var err error
	return &err, func() { _, err = s.AmendOrder(w.ctx, w.actor(), req, cmd) }
}

// amend changes the price of an order where it would take another pay, and is refused elsewhere.
func (w *world) amend(rt *rapid.T) {
	letter, to := anyOrder.Draw(rt, "order"), anyPrice.Draw(rt, "price")
	rt.Logf("AMEND order %s to %d", letter, to)
	want := w.expects(letter, "of anybody else")
	err, run := w.amending(w.service(rt), letter, to)
	run()
	if got := answered(*err); got != want {
		w.Fatalf("the amendment of order %s is answered with %q instead of %q", letter, got, want)
	}
	if *err == nil {
		w.prices[w.order(letter)] = append(w.prices[w.order(letter)], to)
	}
}

// amendAndPay amends an order in one process while it is paid in the other.
func (w *world) amendAndPay(rt *rapid.T) {
	letter, to := anyOrder.Draw(rt, "order"), anyPrice.Draw(rt, "price")
	request, what, capture := strconv.Itoa(len(w.of(letter))+1), w.call(rt), w.capture(rt)
	if _, again := w.attempts[letter+request]; again || w.usedUp[letter+request] || w.expects(letter, request) != anAttempt {
		rt.Skip("the order takes no pay")
	}
	rt.Logf("AT ONCE amend order %s to %d, pay it with request %s and %s capture, whose call %s", letter, to, request, capture, what)
	err, amend := w.amending(w.services[0], letter, to)
	p, pay := w.press(w.services[1], letter, request, what, capture)
	if rapid.Bool().Draw(rt, "the pay comes first") {
		w.start(pay, amend)
	} else {
		w.start(amend, pay)
	}
	var busy *payment.InProgressError
	if *err != nil && !errors.Is(*err, payment.ErrOrderPaid) && !errors.As(*err, &busy) {
		w.Fatalf("the amendment of order %s is answered with %v", letter, *err)
	}
	if *err == nil {
		w.prices[w.order(letter)] = append(w.prices[w.order(letter)], to)
	}
	w.ended(p, anAttempt)
}

// priced requires that an attempt asks for a price of its order, an earlier or the present one. A pending or paid attempt must ask
// for the present price. The provider was asked for the attempt's price.
func (w *world) priced(o payment.Order, a payment.Attempt) {
	had := w.prices[o.ID]
	switch {
	case !slices.Contains(had, a.Money.Minor):
		w.Fatalf("attempt %s asks for %d, and its order has only cost %d", a.ID, a.Money.Minor, had)
	case o.Money.Minor != had[len(had)-1]:
		w.Fatalf("order %s costs %d, and should cost %d", o.ID, o.Money.Minor, had[len(had)-1])
	case !a.Failed() && a.Money != o.Money:
		w.Fatalf("attempt %s asks for %d while it is %s, and its order costs %d", a.ID, a.Money.Minor, a.State, o.Money.Minor)
	}
	if d := w.p.deal(func(d *deal) bool { return d.attempt == a.ID }); d != nil && d.price != a.Money.Minor {
		w.Fatalf("the provider was asked for %d by attempt %s, which is for %d", d.price, a.ID, a.Money.Minor)
	}
}

// acceptTooLittle lets a person accept late money that is less than the order costs by now, which is refused.
func (w *world) acceptTooLittle(rt *rapid.T) {
	var can []string
	for _, d := range w.opened {
		names := w.those(func(a known) bool { return a.ID.String() == d.Attempt && a.Failed() && a.Held() > 0 })
		if len(names) == 0 || d.Open == "" || d.Kind != string(payment.LateSuccess) && d.Kind != string(payment.PaidAfterCancel) {
			continue
		}
		if had := w.prices[w.order(names[0][:1])]; w.attempts[names[0]].Held() < had[len(had)-1] && w.attempts[names[0]].Money.Minor != had[len(had)-1] {
			can = append(can, d.Open)
		}
	}
	slices.Sort(can)
	question := pick(rt, "late money", can)
	rt.Logf("PERSON accepts too little")
	if err := w.resolved(question, payment.ResolvedAccepted, ""); !errors.Is(err, payment.ErrResolutionImpossible) && !errors.Is(err, payment.ErrNotPending) {
		w.Fatalf("late money that is too little is accepted: %v", err)
	}
}
