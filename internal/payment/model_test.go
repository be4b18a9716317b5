package payment_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// Whatever customers press, providers answer and webhooks say, in any order and
// number, in two processes and over several attempts: nobody is charged twice,
// nothing that was said is lost, and in the end every attempt agrees with the
// provider or a person is told.
//
// -rapid.checks=1000 looks further. A failure is told step by step, and in as few
// steps as rapid could find.
func TestAnyCourseOfPayments(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	rapid.Check(t, func(rt *rapid.T) {
		w := m.world(rt)
		w.races = rapid.SampledFrom([]bool{false, false, true}).Draw(rt, "races")
		rt.Repeat(map[string]func(*rapid.T){
			"":                              func(*rapid.T) { w.look() },
			"pay":                           w.pay,
			"pay anew":                      w.payAnew,
			"pay twice at once":             w.payTwice,
			"the provider answers":          w.answer,
			"something happens at provider": w.happen,
			"late money":                    w.late,
			"webhook":                       w.webhook,
			"webhooks together":             w.webhooks,
			"webhook again":                 w.again,
			"ask the provider":              w.recheck,
			"ask, pay and hear at once":     w.atOnce,
			"take over":                     w.takeOver,
			"retry what is parked":          w.retryParked,
			"cancel":                        w.cancel,
			"refund":                        w.refund,
			"time passes":                   w.timePasses,
		})
		w.end()
		m.last = w.last
	})
}

// service draws one of the two processes.
func (w *world) service(rt *rapid.T) *payment.Service {
	return w.services[rapid.IntRange(1, 2).Draw(rt, "process")-1]
}

var (
	anyOrder   = rapid.SampledFrom([]string{"A", "A", "B"})
	anyRequest = rapid.SampledFrom([]string{"1", "2", "3"})
	anyAnswer  = rapid.SampledFrom([]string{
		isPaid, isDeclined, staysOpen, wantsCustomer, paidUnheard, declinedUnheard, openUnheard, neverArrives, isNotSent, isRefused, isHeld, isFrozen,
		isDeclined, staysOpen, // and more of those that let an order go on
	})
)

func (w *world) pay(rt *rapid.T) {
	letter, request, what := anyOrder.Draw(rt, "order"), anyRequest.Draw(rt, "request"), anyAnswer.Draw(rt, "the call")
	p, run := w.press(w.service(rt), letter, request, what)
	rt.Logf("PAY order %s with request %s, whose call %s", letter, request, what)
	want := w.expects(letter, request)
	w.start(run)
	w.ended(p, want)
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
	what := anyAnswer.Draw(rt, "the call")
	p, run := w.press(w.service(rt), name[:1], name[1:], what)
	rt.Logf("PAY order %s with request %s, whose call %s", name[:1], name[1:], what)
	w.start(run)
	w.ended(p, anAttempt)
}

func (w *world) payTwice(rt *rapid.T) {
	letter, what := anyOrder.Draw(rt, "order"), anyAnswer.Draw(rt, "the calls")
	one, two := anyRequest.Draw(rt, "one request"), anyRequest.Draw(rt, "other request")
	p, runP := w.press(w.services[0], letter, one, what)
	q, runQ := w.press(w.services[1], letter, two, what)
	rt.Logf("PAY order %s with requests %s and %s at once, whose calls: %s", letter, one, two, what)
	w.start(runP, runQ)
	allowed := []string{anAttempt, alreadyPaid, cancelled, inProgress, replayed, stillAtIt}
	w.ended(p, allowed...)
	w.ended(q, allowed...)
}

// pick draws one of several by name, or skips the action.
func pick(rt *rapid.T, label string, names []string) string {
	if len(names) == 0 {
		rt.SkipNow()
	}
	return rapid.SampledFrom(names).Draw(rt, label)
}

func (w *world) answer(rt *rapid.T) {
	name := pick(rt, "held call", w.heldCalls())
	what := rapid.SampledFrom([]string{isPaid, isDeclined, staysOpen, wantsCustomer, paidUnheard, declinedUnheard, openUnheard}).Draw(rt, "it")
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

// release lets a held call go on and its pay end.
func (w *world) release(name, what string) {
	i := slices.IndexFunc(w.p.held, func(c *heldCall) bool { return c.name == name })
	c := w.p.held[i]
	w.p.held = slices.Delete(w.p.held, i, i+1)
	c.answer <- what
	<-w.p.idle
	p := w.presses[name]
	delete(w.presses, name)
	w.ended(p, anAttempt)
}

func (w *world) happen(rt *rapid.T) {
	var can []string
	for _, d := range w.p.deals {
		switch {
		case !d.paid && !d.over:
			can = append(can, d.name+" is paid", d.name+" is declined", d.name+" is declined softly")
		case d.paid && !d.reversed:
			can = append(can, d.name+" is taken back")
		}
		if d.paid && w.p.left(d) == price {
			can = append(can, d.name+" is refunded in the dashboard")
		}
	}
	for _, r := range w.p.backs {
		if !r.done {
			can = append(can, r.of.name+" is paid back")
		}
	}
	slices.Sort(can)
	w.does(rt, pick(rt, "what", slices.Compact(can)))
}

// late lets a provider take the money of a payment that it had said was over.
func (w *world) late(rt *rapid.T) {
	var can []string
	for _, d := range w.p.deals {
		if d.over && !d.paid {
			can = append(can, d.name)
		}
	}
	slices.Sort(can)
	w.does(rt, pick(rt, "whose", can)+" is paid late")
}

func (w *world) does(rt *rapid.T, what string) {
	rt.Logf("PROVIDER: %s", what)
	before := slices.Clone(w.p.notices)
	name, what, _ := strings.Cut(what, " ")
	d := w.p.of(name)
	switch what {
	case isPaid, "is paid late":
		w.p.take(d)
	case isDeclined:
		w.p.end(d)
	case "is declined softly":
		w.p.note(d, webhooks.KindSoftFailed)
	case "is taken back":
		d.reversed = true
		w.p.note(d, webhooks.KindReversed)
	case "is refunded in the dashboard":
		w.p.refundByHand(d)
	case isBack:
		w.p.giveBack(w.p.refund(func(r *back) bool { return r.of == d && !r.done }))
	}
	if rapid.SampledFrom([]bool{true, true, false}).Draw(rt, "its webhooks arrive at once") {
		w.deliver(w.service(rt), slices.DeleteFunc(slices.Clone(w.p.notices), func(n *notice) bool { return slices.Contains(before, n) })...)
	}
}
