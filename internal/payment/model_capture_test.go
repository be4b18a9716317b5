package payment_test

import (
	"context"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// What becomes of a call that asks for a capture or a cancellation, beside those
// that are refused or never arrive.
const (
	isDone         = "is carried out"
	doneUnheard    = "is carried out, unheard"
	refusedUnheard = "is refused, unheard"
)

// What becomes of an answer that is late.
const (
	isHeard = "is heard"
	isLost  = "is lost, unheard"
)

var anyFate = rapid.SampledFrom([]string{isDone, isDone, doneUnheard, isRefused, refusedUnheard, neverArrives, isDeclined})

// longest is how long after a confirm its capture may be sent.
const longest = 10 * time.Minute

// commanded is what a deal was told, and what the script says of it.
type commanded struct {
	// fate is what becomes of the next command; deaf deals don't answer the next
	// question.
	fate string
	deaf bool
	// late says that the next command or question is answered late.
	late bool
	// refused says of each command, by its key, how it was answered.
	refused          map[string]bool
	captured, voided bool
	// kept says that the provider refused to give the payment up, or that a person was
	// rightly told so.
	kept bool
	// wished is the amount that was confirmed last, at how far the clocks had moved.
	wished   int64
	wishedAt time.Duration
	// accepted says that its capture, or another command since, was not refused at once.
	accepted bool
	// odd says that another amount was taken than the attempt was to capture.
	odd bool
	// wrong is what the provider should never have been asked for.
	wrong string
}

func (p *scripted) Capture(_ context.Context, c payment.Capture) (payment.Outcome, error) {
	if p.heldBack() {
		return payment.Outcome{}, errHeldBack
	}
	if err := c.Licence.Check(); err != nil {
		return payment.Outcome{}, err
	}
	d := p.deal(func(d *deal) bool { return d.id == c.ProviderPaymentID })
	switch {
	case d == nil:
		return payment.Outcome{}, payment.ErrNoSuchPayment
	case d.voided:
		d.wrong = "is captured after it was given up"
	case p.moved()-d.wishedAt > longest:
		d.wrong = "is captured long after it was confirmed"
	case c.Money.Minor != d.wished:
		d.wrong = "is captured with another amount than was confirmed"
	}
	if p.inTurn && p.withheld(d.name[:1], d.attempt) != nil {
		p.unwanted = append(p.unwanted, d.name+" is captured")
	}
	p.knows(d, c.Transactions)
	fate := d.fate
	return p.obey(d, c.IdempotencyKey, func() bool {
		if d.captured {
			d.wrong = "is captured twice"
		}
		if !d.held || d.soft || fate == isDeclined && p.pages {
			return false
		}
		if fate == isDeclined {
			d.soft = true
			p.note(d, webhooks.KindSoftFailed).event.CaptureRefused = true
			return false
		}
		d.captured = true
		p.charge(d, c.Money.Minor)
		return true
	}, func() {
		p.note(d, webhooks.KindAuthorized).event.CaptureRefused = true
	})
}

func (p *scripted) Cancel(_ context.Context, c payment.Cancel) (payment.Outcome, error) {
	if p.heldBack() {
		return payment.Outcome{}, errHeldBack
	}
	d := p.deal(func(d *deal) bool { return d.id == c.ProviderPaymentID })
	if d == nil {
		return payment.Outcome{}, payment.ErrNoSuchPayment
	}
	p.knows(d, c.Transactions)
	o, err := p.obey(d, c.IdempotencyKey, func() bool {
		if d.held || d.open() {
			d.voided = true
			p.end(d)
		}
		return !d.charged()
	}, func() {
		d.kept = true
		p.note(d, webhooks.KindProcessing).event.CancelRefused = true
	})
	d.kept = d.kept || o.Refused
	return o, err
}

// obey carries a command out, once for each key, as far as the script lets it. A
// blind provider declines what it has received, but for the cancellation of a late hold.
func (p *scripted) obey(d *deal, key string, do func() bool, decline func()) (payment.Outcome, error) {
	fate := d.fate
	d.fate = ""
	if fate == neverArrives {
		return payment.Outcome{}, errUnheard
	}
	refused, again := d.refused[key]
	if !again {
		refused = strings.HasPrefix(fate, isRefused)
		if !refused && (p.blind && fate == isDeclined && !d.over || !do()) {
			if refused = !p.blind; p.blind {
				decline()
			}
		}
		d.refused[key] = refused
	}
	d.accepted = !refused
	if unheard(fate) {
		return payment.Outcome{}, errUnheard
	}
	return p.told(d, refused)
}

// told is the answer to a command or a question.
func (p *scripted) told(d *deal, refused bool) (payment.Outcome, error) {
	o := p.outcome(d)
	if p.blind {
		o = payment.Outcome{News: fsm.NewsProcessing, ProviderPaymentID: d.id}
	}
	o.Refused = refused
	if d.late {
		d.late = false
		return p.answersLate(commandOf(d.name), o)
	}
	return o, nil
}

// commandOf names the call of a command on an attempt, or of a question.
func commandOf(name string) string { return name + "'s command" }

func (p *scripted) moved() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ahead
}

// script draws what becomes of the next command on an attempt.
func (w *world) script(rt *rapid.T, name string) string {
	fate, deaf := anyFate.Draw(rt, "the next command"), rapid.Bool().Draw(rt, "the next question is not answered")
	if d := w.p.of(name); d != nil {
		d.fate, d.deaf = fate, deaf
	}
	return fate + ifAny(", and the next question is not answered", deaf)
}

// command runs a command on an attempt, or a question, whose answer may be late:
// then the world goes on. Ended hears what came of it.
func (w *world) command(rt *rapid.T, name string, do func() (payment.Reply, error), ended func(*press)) {
	p := &press{name: commandOf(name), ended: ended}
	d := w.p.of(name)
	if d != nil && w.presses[p.name] == nil && rapid.SampledFrom([]bool{false, true}).Draw(rt, "its answer is late") {
		rt.Logf("    whose answer is late")
		d.late = true
	}
	w.start(func() {
		p.paid, p.err = do()
		p.done = true
	})
	if d != nil {
		d.late = false
	}
	w.ended(p)
}

// trouble scripts commands and questions that nobody has thought of yet.
func (w *world) trouble(rt *rapid.T) {
	var names []string
	for _, d := range w.p.deals {
		names = append(names, d.name)
	}
	name := pick(rt, "whose", slices.Sorted(slices.Values(names)))
	rt.Logf("PROVIDER: the next command on %s %s", name, w.script(rt, name))
}

// spare lets calls be held back, as an open breaker or a rate limit does.
func (w *world) spare(rt *rapid.T) {
	w.p.sparing = rapid.IntRange(1, 3).Draw(rt, "how many calls")
	rt.Logf("HELD BACK: the next %d calls", w.p.sparing)
}
