package engine_test

import (
	"errors"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

func isManual(a known) bool { return a.Capture == payment.CaptureManual }

func holdsMoney(a known) bool { return a.State == fsm.Authorized }

// errReleased is kept of a confirm that may be tried again under its key.
var errReleased = errors.New("released")

var anyCaptured = rapid.SampledFrom([]int64{price, 1500, 500, price + 1})

// captured draws an amount for a confirm: all of the attempt, a part, or more.
func (w *world) captured(rt *rapid.T, name, label string) int64 {
	amount := anyCaptured.Draw(rt, label)
	if amount >= price {
		amount += w.attempts[name].Money.Minor - price
	}
	return amount
}

// underWay reports whether a call of an attempt is held, and its lease alive. A lease ends with its
// operation, too, which a webhook may end.
func (w *world) underWay(name string) bool {
	for _, held := range []*press{w.heldCommands[name], w.heldCommands[commandOf(name)]} {
		if held != nil && held.alone && slices.Contains(w.attempts[name].Open, held.leased) {
			return true
		}
	}
	return false
}

// confirming makes a confirm that is not begun yet. Its key is the same for the
// same amount; the whole is confirmed without an amount.
func (w *world) confirming(s *service, name string, amount int64) func() (commands.Reply, error) {
	cmd := commands.Confirm{AttemptID: w.attempts[name].ID}
	if amount != w.attempts[name].Money.Minor {
		cmd.Amount = &amount
	}
	if d := w.p.of(name); d != nil && w.withheldOf(name) == nil && holdsMoney(w.attempts[name]) && w.attempts[name].Intent.Kind != payment.OperationCapture {
		d.confirmed, d.confirmedAt, d.accepted = amount, w.p.moved(), false
	}
	return func() (commands.Reply, error) {
		return s.Confirm(w.ctx, w.actor(), w.request("confirm "+name, confirmKey(name, amount)), cmd)
	}
}

func confirmKey(name string, amount int64) string { return fmt.Sprintf("confirm-%s-%d", name, amount) }

func (w *world) confirm(rt *rapid.T) {
	name := pick(rt, "attempt", append(w.those(isManual), w.those(holdsMoney)...))
	amount := w.captured(rt, name, "amount")
	what := w.script(rt, name)
	rt.Logf("CONFIRM %d of %s, whose call %s", amount, name, what)
	var was deal
	if d := w.p.of(name); d != nil && w.p.sparing == 0 {
		if was = *d; w.p.blind { // it answers no other lookup
			was = deal{commanded: commanded{fate: d.fate}}
		}
	}
	key, want, crowded := confirmKey(name, amount), w.uncapturable(name, amount), w.heldCommands[commandOf(name)] != nil
	if want == nil && (was.refuses() || w.p.blind && was.fate == isRefused) {
		want = payment.ErrNotCapturable
	}
	before, known := w.confirmed[key]
	w.command(rt, name, w.confirming(w.service(rt), name, amount), func(p *press) {
		stored, again := w.confirmed[key]
		released := errors.Is(stored, errReleased)
		switch {
		case crowded || p.waited:
			w.meets(p.err)
		case again && !released:
			w.replays(name, stored, p)
		case released && p.err == nil && w.attempts[name].Succeeded(): // captured by another call
		case !errors.Is(p.err, want):
			w.Fatalf("the confirm of %s, which is %s, is answered with %v instead of %v", name, describe(w.attempts[name].Attempt), p.err, want)
		case p.err == nil && was.fate == isDone && !w.p.blind && p.paid.Captured != was.yields(amount):
			w.Fatalf("%d of %s were confirmed, of which %d was taken before, and %s with %d is answered", amount, name, was.taken, describe(p.paid.Attempt), p.paid.Captured)
		case p.err == nil && was.fate == isDone && p.paid.Succeeded() && p.paid.Captured != amount:
			w.p.of(name).odd = true
		}
		// A runner that was overtaken while it waited stores nothing.
		if !p.waited || known == again && errors.Is(stored, before) {
			w.keeps(key, p.err)
		}
	})
}

// meets requires one of the answers to a command that meets another.
func (w *world) meets(err error) {
	for _, may := range []error{payment.ErrBusy, payment.ErrOrderPaid, payment.ErrOrderCancelled, payment.ErrNotCapturable, payment.ErrCaptureExceeds, payment.ErrAttemptFinal, idempotency.ErrInProgress} {
		if err == nil || errors.Is(err, may) || answered(err) == replayed {
			return
		}
	}
	w.must(err)
}

// keeps records the stored result under the key of a confirm that has its response.
func (w *world) keeps(key string, err error) {
	switch {
	case err == nil, errors.Is(err, payment.ErrCaptureExceeds), errors.Is(err, payment.ErrOrderPaid), errors.Is(err, payment.ErrOrderCancelled):
		w.confirmed[key] = err
	case errors.Is(err, payment.ErrNotCapturable):
		w.confirmed[key] = errReleased
	}
}

// refuses reports whether a capture is refused, and the refusal arrives, of a payment that was
// not captured without it.
func (d *deal) refuses() bool {
	return d.held && !unheard(d.fate) && (d.soft || d.fate == isRefused || d.fate == isDeclined)
}

// yields is the amount taken by a capture of an amount.
func (d *deal) yields(amount int64) int64 {
	if d.held {
		return amount
	}
	return d.taken
}

// uncapturable is why a confirm is refused before the provider is called.
func (w *world) uncapturable(name string, amount int64) error {
	a, withheld := w.attempts[name], w.withheldOf(name)
	switch {
	case withheld != nil:
		return withheld
	case w.underWay(name):
		return payment.ErrBusy
	case !holdsMoney(a):
		return payment.ErrNotCapturable
	case amount > a.Money.Minor:
		return payment.ErrCaptureExceeds
	case a.Intent.Kind != "":
		return payment.ErrBusy
	}
	return nil
}

// replays requires the answer that is stored under a key, as the attempt is now.
func (w *world) replays(name string, stored error, p *press) {
	was := w.attempts[name]
	switch {
	case stored != nil && answered(p.err) != replayed:
		w.Fatalf("the confirm of %s that was refused with %v is answered with %v", name, stored, p.err)
	case stored == nil && (p.err != nil || p.paid.ID != was.ID || p.paid.Result != idempotency.Reused):
		w.Fatalf("the same confirm of %s is answered with %s %v", name, p.paid.Result, p.err)
	case stored == nil && p.paid.Facts() != was.Facts():
		w.Fatalf("the same confirm changed %s from %s to %s", name, describe(was.Attempt), describe(p.paid.Attempt))
	}
}

// confirmAtOnce lets a confirm meet itself, a cancel or a lookup in the other process.
func (w *world) confirmAtOnce(rt *rapid.T) {
	name := pick(rt, "attempt", w.those(func(a known) bool { return holdsMoney(a) && a.Intent.Kind != payment.OperationCapture }))
	amount := w.captured(rt, name, "amount")
	with := map[string]func() (commands.Reply, error){
		"the same":   w.confirming(w.services[1], name, amount),
		"a cancel":   w.cancelling(w.services[1], name),
		"a question": w.question(w.services[1], name),
	}
	other := rapid.SampledFrom([]string{"the same", "a cancel", "a question"}).Draw(rt, "what else")
	rt.Logf("CONFIRM %d of %s at once with %s; the first call %s", amount, name, other, w.script(rt, name))
	var errs [2]error
	confirm := w.confirming(w.services[0], name, amount)
	w.start(func() { _, errs[0] = confirm() }, func() { _, errs[1] = with[other]() })
	for _, err := range errs {
		w.meets(err)
	}
	w.keeps(confirmKey(name, amount), errs[0])
	if other == "the same" && errs[0] != nil {
		w.keeps(confirmKey(name, amount), errs[1])
	}
}

// finish captures or releases the remaining holds in the end: nothing blocks that.
func (w *world) finish() {
	for _, d := range w.p.deals {
		d.fate, d.deaf = isDone, false
	}
	for _, name := range w.those(holdsMoney) {
		d := w.p.of(name)
		if w.p.blind && w.attempts[name].Intent.Kind != "" {
			w.finishLost(name, d)
			continue
		}
		if withheld := w.withheldOf(name); withheld != nil { // the rounds that follow release it
			if _, err := w.confirming(w.services[0], name, 600)(); !errors.Is(err, withheld) && answered(err) != replayed {
				w.Fatalf("the money of %s is not to be taken, and its confirm is answered with %v instead of %v", name, err, withheld)
			}
			continue
		}
		if rapid.Bool().Draw(w.T, "what is held is captured in the end") {
			w.Logf("END: %s is captured", name)
			paid, err := w.confirming(w.services[0], name, 700)()
			w.must(err)
			if d.held || !paid.Succeeded() && !w.p.blind {
				w.Fatalf("the capture of %s leaves it %s", name, describe(paid.Attempt))
			}
			continue
		}
		w.Logf("END: %s is given up", name)
		paid, err := w.cancelling(w.services[1], name)()
		w.must(err)
		if d.held || !paid.Failed() && !w.p.blind {
			w.Fatalf("the cancellation of %s leaves it %s", name, describe(paid.Attempt))
		}
	}
}

// finishLost ends a payment with a lost capture, at a provider without lookups: by a resolution.
func (w *world) finishLost(name string, d *deal) {
	if d.accepted || w.openQuestion(w.attempts[name].ID, "") == "" {
		w.Fatalf("the command on %s has no end: it was accepted: %t", name, d.accepted)
	}
	w.Logf("END: %s is given up in the dashboard", name)
	w.p.end(d)
}
