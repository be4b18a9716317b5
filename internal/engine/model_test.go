package engine_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// Customers act, providers respond and webhooks report in any order and number. There are two processes and several
// attempts, captured at once or by hand, at a provider with or without lookups. No customer is charged twice. No call
// that takes money is sent for an order that is cancelled or holds money already. No hold is forgotten, and no report is
// lost. In the end every attempt agrees with the provider or a discrepancy is open.
//
// The model has refunds by the merchant, by a policy and in the dashboard. They may be partial, may fail or may be
// undone. The shop amends orders, also while they are paid. Some callers know the names of such refunds. It has chargebacks of one amount, some of them won, and
// resolutions of discrepancies that can't end otherwise. Webhooks are repeated, come with other content, or are replayed
// by staff. On pages a customer tries, and pays, in two tabs. Money comes late in another currency. The model leaves out
// notices that must be fetched, amendments of lines, holds in two tabs, provider keys that expire, and payments that a customer approves
// before they are captured: these have tests of their own.
//
// -rapid.checks=1000 looks further. A failure is printed step by step, in the fewest steps that rapid could find.
func TestAnyCourseOfPayments(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	rapid.Check(t, func(rt *rapid.T) {
		w := m.world(rt)
		w.races = rapid.SampledFrom([]bool{false, false, true}).Draw(rt, "races")
		w.holds = rapid.Bool().Draw(rt, "mostly about holds")
		w.p.blind = rapid.SampledFrom([]bool{false, false, true}).Draw(rt, "the provider can't be asked")
		w.p.keyless = rapid.SampledFrom([]bool{false, false, true}).Draw(rt, "the provider has no idempotency keys")
		if rapid.SampledFrom([]bool{false, false, true}).Draw(rt, "late money is paid back by itself") {
			w.account, w.p.payback = repaying, anyPayback.Draw(rt, "what becomes of that")
		}
		w.p.dated = w.p.blind || rapid.Bool().Draw(rt, "webhooks are dated")
		w.p.inTurn = !w.races
		w.p.pages = !w.p.blind && rapid.SampledFrom([]bool{false, false, true}).Draw(rt, "customers pay on pages")
		rt.Repeat(w.actions())
		w.end()
		m.last = w.last
	})
}

// actions are the possible actions; in a world of holds they are the actions on holds.
func (w *world) actions() map[string]func(*rapid.T) {
	all := map[string]func(*rapid.T){
		"":                              func(*rapid.T) { w.look() },
		"pay":                           w.pay,
		"pay anew":                      w.payAnew,
		"pay twice at once":             w.payTwice,
		"the provider answers":          w.answer,
		"something happens at provider": w.happen,
		"late money":                    w.late,
		"late money in dollars":         w.dollars,
		"a person settles dollars":      w.settleDollars,
		"webhook":                       w.webhook,
		"webhooks together":             w.webhooks,
		"webhook again":                 w.again,
		"webhook replayed by staff":     w.replay,
		"ask the provider":              w.recheck,
		"ask, pay and hear at once":     w.atOnce,
		"take over":                     w.takeOver,
		"retry what is parked":          w.retryParked,
		"cancel":                        w.cancel,
		"amend an order":                w.amend,
		"amend and pay at once":         w.amendAndPay,
		"accept too little":             w.acceptTooLittle,
		"confirm":                       w.confirm,
		"confirm at once":               w.confirmAtOnce,
		"trouble ahead":                 w.trouble,
		"calls are held back":           w.spare,
		"nobody is reached for days":    w.outage,
		"a person decides":              w.decide,
		"refund":                        w.refund,
		"ask about a refund":            w.recheckRefund,
		"time passes":                   w.timePasses,
	}
	if w.p.pages {
		all["a try on a page"] = w.tryInVain
	}
	if w.holds {
		for _, other := range []string{"pay", "pay twice at once", "webhooks together", "webhook again", "ask, pay and hear at once", "retry what is parked", "refund"} {
			delete(all, other)
		}
		all["late money, more often"] = w.late
	}
	return all
}

// service draws one of the two processes.
func (w *world) service(rt *rapid.T) *service {
	return w.services[rapid.IntRange(1, 2).Draw(rt, "process")-1]
}

var (
	anyOrder   = rapid.SampledFrom([]string{"A", "A", "B"})
	anyRequest = rapid.SampledFrom([]string{"1", "2", "3"})
	anyCapture = rapid.SampledFrom([]payment.CaptureMode{payment.CaptureAutomatic, payment.CaptureManual})
	anyAnswer  = rapid.SampledFrom([]string{
		isPaid, isDeclined, staysOpen, wantsCustomer, paidUnheard, declinedUnheard, openUnheard, neverArrives, isNotSent, isRefused, isHeld, isFrozen,
		paidLate, declinedLate,
		isDeclined, staysOpen, // and more of the outcomes that let an order go on
	})
)

func (w *world) capture(rt *rapid.T) payment.CaptureMode {
	if w.holds {
		return payment.CaptureManual
	}
	return anyCapture.Draw(rt, "capture")
}

// call draws the outcome of a charge. On a page it mostly waits for its customer.
func (w *world) call(rt *rapid.T) string {
	if w.p.pages && rapid.Bool().Draw(rt, "it waits on a page") {
		return wantsCustomer
	}
	return anyAnswer.Draw(rt, "the call")
}

func (w *world) pay(rt *rapid.T) {
	letter, request, what, capture := anyOrder.Draw(rt, "order"), anyRequest.Draw(rt, "request"), w.call(rt), w.capture(rt)
	p, run := w.press(w.service(rt), letter, request, what, capture)
	rt.Logf("PAY order %s with request %s and %s capture, whose call %s", letter, request, capture, what)
	want := w.mayExpect(letter, request)
	w.start(run)
	w.ended(p, want...)
}

// payAnew pays an order that takes another attempt.
func (w *world) payAnew(rt *rapid.T) {
	var free []string
	for _, letter := range both {
		if request := strconv.Itoa(len(w.of(letter)) + 1); w.expects(letter, request) == anAttempt && w.attempts[letter+request].Version == 0 {
			free = append(free, letter+request)
		}
	}
	name := pick(rt, "new attempt", free)
	what, capture := w.call(rt), w.capture(rt)
	p, run := w.press(w.service(rt), name[:1], name[1:], what, capture)
	rt.Logf("PAY order %s with request %s and %s capture, whose call %s", name[:1], name[1:], capture, what)
	w.start(run)
	w.ended(p, anAttempt)
}

func (w *world) payTwice(rt *rapid.T) {
	letter, what, capture := anyOrder.Draw(rt, "order"), anyAnswer.Draw(rt, "the calls"), w.capture(rt)
	one, two := anyRequest.Draw(rt, "one request"), anyRequest.Draw(rt, "other request")
	p, runP := w.press(w.services[0], letter, one, what, capture)
	q, runQ := w.press(w.services[1], letter, two, what, capture)
	rt.Logf("PAY order %s with requests %s and %s and %s capture at once, whose calls: %s", letter, one, two, capture, what)
	w.start(runP, runQ)
	allowed := []string{anAttempt, alreadyPaid, cancelled, inProgress, replayed, stillAtIt}
	w.ended(p, allowed...)
	w.ended(q, allowed...)
}

// pick draws one of several by name, or skips the action.
func pick(rt *rapid.T, label string, names []string) string {
	if len(names) == 0 {
		rt.Skip("there is no " + label)
	}
	return rapid.SampledFrom(names).Draw(rt, label)
}

func (w *world) answer(rt *rapid.T) {
	name := pick(rt, "held call", w.heldCalls())
	can := []string{isPaid, isDeclined, staysOpen, wantsCustomer, paidUnheard, declinedUnheard, openUnheard}
	if w.heldCall(name).late {
		can = []string{isHeard, isLost}
	}
	what := rapid.SampledFrom(can).Draw(rt, "it")
	rt.Logf("ANSWER the held call of %s: it %s", name, what)
	w.release(name, what)
}

func (w *world) heldCalls() []string {
	var names []string
	for _, c := range w.p.held {
		names = append(names, c.name)
	}
	return names
}

func (w *world) heldCall(name string) *heldCall {
	return w.p.held[slices.IndexFunc(w.p.held, func(c *heldCall) bool { return c.name == name })]
}

// release lets a held call go on and its command end.
func (w *world) release(name, what string) {
	c := w.heldCall(name)
	w.p.held = slices.DeleteFunc(w.p.held, func(o *heldCall) bool { return o == c })
	c.answer <- what
	<-w.p.idle
	p := w.heldCommands[name]
	delete(w.heldCommands, name)
	w.ended(p, anAttempt)
}

func (w *world) happen(rt *rapid.T) {
	var can []string
	for _, d := range w.p.deals {
		switch {
		case d.open():
			can = append(can, d.name+" is paid", d.name+" is declined", d.name+" is declined softly")
		case d.held:
			can = append(can, d.name+" lapses", d.name+" is captured in the dashboard")
		case d.charged() && !d.reversed:
			can = append(can, d.name+" is taken back")
		}
		can = append(can, w.tabs(d)...)
		can = append(can, w.quarrels(d)...)
		if left := w.p.leftOfFirst(d); left > 0 {
			can = append(can, d.name+" is refunded in the dashboard")
			if left > aPart {
				can = append(can, d.name+" is refunded in part in the dashboard")
			}
		}
	}
	for _, r := range w.p.backs {
		switch {
		case r.open():
			can = append(can, r.of.name+" is paid back", r.of.name+" is not paid back after all")
		case r.done && !r.failed && w.settled(r):
			can = append(can, r.of.name+" has a refund undone")
		}
		if w.unnamed(r) && w.p.leftOfFirst(r.of) >= r.amount {
			can = append(can, r.of.name+" is refunded as much once more in the dashboard")
		}
	}
	slices.Sort(can)
	w.does(rt, pick(rt, "what", slices.Compact(can)))
}

// late lets a provider take, or hold, the money of a payment that it had reported as over.
func (w *world) late(rt *rapid.T) {
	var can []string
	for _, d := range w.p.deals {
		// A provider without lookups does not report a new hold. Neither does an event without a date, or an event
		// before the end of the first hold.
		anew := (w.p.blind || !w.p.dated && !w.p.pages || !w.attempts[d.name].Failed()) && slices.ContainsFunc(w.p.notices, func(n *notice) bool { return n.of == d && n.event.Kind == webhooks.KindAuthorized })
		if d.over && !d.charged() && !d.held && !anew {
			can = append(can, d.name)
		}
	}
	slices.Sort(can)
	name := pick(rt, "whose", can)
	w.pass(2 * time.Second) // some providers give whole seconds
	w.does(rt, name+" is paid late")
}

func (w *world) does(rt *rapid.T, what string) {
	rt.Logf("PROVIDER: %s", what)
	before := slices.Clone(w.p.notices)
	name, what, _ := strings.Cut(what, " ")
	d := w.p.of(name)
	switch what {
	case "is paid late":
		if w.p.pages {
			d.tries++
			if d.transaction != "" {
				d.failed = append(d.failed, d.transaction)
			}
			d.transaction = fmt.Sprintf("late-%d-%s", d.tries, d.id)
		}
		w.p.take(d)
	case isPaid:
		w.p.take(d)
	case isDeclined, "lapses":
		w.p.end(d)
	case "is captured in the dashboard":
		w.p.charge(d, aPart)
	case "is declined softly":
		d.begin()
		d.soft = true
		w.p.note(d, webhooks.KindSoftFailed)
	case tryDeclined, triedInVain:
		w.p.another(d, webhooks.KindFailed)
		d.tried = d.tried || what == triedInVain
	case paidTwice:
		d.second = w.p.another(d, webhooks.KindSucceeded)
	case "is taken back":
		d.reversed = true
		w.p.note(d, webhooks.KindReversed)
	case chargedBack:
		w.p.chargeBack(d)
	case chargebackWon:
		w.p.winChargeback(d)
	case "is refunded in the dashboard":
		w.p.refundByHand(d, w.p.leftOfFirst(d))
	case "is refunded as much once more in the dashboard":
		w.p.refundByHand(d, w.p.refund(func(r *back) bool { return r.of == d && w.unnamed(r) }).amount)
	case "is refunded in part in the dashboard":
		w.p.refundByHand(d, aPart)
	case isBack:
		w.p.giveBack(w.p.refund(func(r *back) bool { return r.of == d && r.open() }))
	case "is not paid back after all":
		w.p.fail(w.p.refund(func(r *back) bool { return r.of == d && r.open() }))
	case "has a refund undone":
		w.p.fail(w.p.refund(func(r *back) bool { return r.of == d && r.done && !r.failed && w.settled(r) }))
	}
	if rapid.SampledFrom([]bool{true, true, false}).Draw(rt, "its webhooks arrive at once") {
		w.deliver(w.service(rt), slices.DeleteFunc(slices.Clone(w.p.notices), func(n *notice) bool { return slices.Contains(before, n) })...)
	}
}
