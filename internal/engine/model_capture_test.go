package engine_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/webhooks"
)

// The outcomes of a call for a capture or a cancel, beside refused and lost calls.
const (
	isDone         = "is carried out"
	doneUnheard    = "is carried out, unheard"
	refusedUnheard = "is refused, unheard"
)

// The outcomes of a late response.
const (
	isHeard = "is heard"
	isLost  = "is lost, unheard"
)

var anyFate = rapid.SampledFrom([]string{isDone, isDone, doneUnheard, isRefused, refusedUnheard, neverArrives, isDeclined})

// longest is how long after a confirm its capture may be sent.
const longest = 10 * time.Minute

// commanded is the commands of a deal, with the script's outcomes.
type commanded struct {
	// fate is the outcome of the next command; deaf deals don't respond to the next lookup.
	fate string
	deaf bool
	// late is set where the next command or lookup has a late response.
	late bool
	// refused has for each command, by its key, whether it was refused.
	refused          map[string]bool
	captured, voided bool
	// kept is set where the provider refused to release the payment, or where a discrepancy was
	// rightly opened.
	kept bool
	// confirmed is the amount that was confirmed last, at how far the clocks had moved.
	confirmed   int64
	confirmedAt time.Duration
	// accepted is set where its capture, or another command since, was not refused at once.
	accepted bool
	// odd is set where another amount was captured than the attempt was to capture.
	odd bool
	// wrong is the call that the provider must never receive.
	wrong string
}

func (p *scripted) Capture(_ context.Context, c gateway.Capture) (gateway.Outcome, error) {
	if p.heldBack() {
		return gateway.Outcome{}, errHeldBack
	}
	if err := c.Permit.Check(); err != nil {
		return gateway.Outcome{}, err
	}
	d := p.deal(named(cmp.Or(c.ProviderPaymentID, c.Container)))
	switch {
	case d == nil:
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	case d.voided:
		d.wrong = "is captured after it was given up"
	case p.moved()-d.confirmedAt > longest:
		d.wrong = "is captured long after it was confirmed"
	case c.Money.Minor != d.confirmed:
		d.wrong = "is captured with another amount than was confirmed"
	}
	if p.inTurn && p.withheld(d.name[:1], d.attempt) != nil {
		p.unwanted = append(p.unwanted, d.name+" is captured")
	}
	p.carries(d, c.ProviderPaymentID)
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
			p.note(d, webhooks.KindSoftFailed).event.Refuses = webhooks.CommandCapture
			return false
		}
		d.captured = true
		p.charge(d, c.Money.Minor)
		return true
	}, func() {
		p.note(d, webhooks.KindAuthorized).event.Refuses = webhooks.CommandCapture
	})
}

func (p *scripted) Cancel(_ context.Context, c gateway.Cancel) (gateway.Outcome, error) {
	if p.heldBack() {
		return gateway.Outcome{}, errHeldBack
	}
	d := p.deal(named(cmp.Or(c.ProviderPaymentID, c.Container)))
	if d == nil {
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	}
	p.carries(d, c.ProviderPaymentID)
	o, err := p.obey(d, c.IdempotencyKey, func() bool {
		if d.held || d.open() {
			d.voided = true
			p.end(d)
		}
		return !d.charged()
	}, func() {
		d.kept = true
		p.note(d, webhooks.KindProcessing).event.Refuses = webhooks.CommandCancel
	})
	d.kept = d.kept || o.Refused
	return o, err
}

// obey carries a command out, once for each key, as far as the script allows. A blind provider declines a received
// command, except the release of a hold after the failure.
func (p *scripted) obey(d *deal, key string, do func() bool, decline func()) (gateway.Outcome, error) {
	fate := d.fate
	d.fate = ""
	if fate == neverArrives {
		return gateway.Outcome{}, errUnheard
	}
	refused, again := d.refused[key]
	again = again && (!p.keyless || !strings.Contains(key, "-cancel-")) // a hold is there to be captured once
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
		return gateway.Outcome{}, errUnheard
	}
	return p.respond(d, refused)
}

// respond is the response to a command or a lookup.
func (p *scripted) respond(d *deal, refused bool) (gateway.Outcome, error) {
	o := p.outcome(d)
	if p.blind {
		o = gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: d.id}
	}
	o.Refused = refused
	if d.late {
		d.late = false
		return p.answersLate(commandOf(d.name), o)
	}
	return o, nil
}

// commandOf names the call of a command on an attempt, or of a lookup.
func commandOf(name string) string { return name + "'s command" }

func (p *scripted) moved() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ahead
}

// script draws the outcome of the next command on an attempt.
func (w *world) script(rt *rapid.T, name string) string {
	fate, deaf := anyFate.Draw(rt, "the next command"), rapid.Bool().Draw(rt, "the next question is not answered")
	if d := w.p.of(name); d != nil {
		d.fate, d.deaf = fate, deaf
	}
	return fate + ifAny(", and the next question is not answered", deaf)
}

// command runs a command on an attempt, or a lookup. If its response is late, the world goes on. ended gets the result.
func (w *world) command(rt *rapid.T, name string, do func() (commands.Reply, error), ended func(*press)) {
	p := &press{name: commandOf(name), ended: ended}
	d := w.p.of(name)
	if d != nil && w.heldCommands[p.name] == nil && rapid.SampledFrom([]bool{false, true}).Draw(rt, "its answer is late") {
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

// trouble scripts the next command or lookup of any payment.
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
