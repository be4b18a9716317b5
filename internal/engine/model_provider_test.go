package engine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// The outcomes of a call for a payment. An unheard call has a lost result.
const (
	isPaid          = "is paid"
	isDeclined      = "is declined"
	staysOpen       = "stays open"
	wantsCustomer   = "wants the customer"
	paidUnheard     = "is paid, unheard"
	declinedUnheard = "is declined, unheard"
	openUnheard     = "stays open, unheard"
	neverArrives    = "never arrives, unheard"
	isNotSent       = "is not sent"
	isRefused       = "is refused"
	isHeld          = "is held after it arrived"
	isFrozen        = "is held before it is sent"
	paidLate        = "is paid, answered late"
	declinedLate    = "is declined, answered late"
)

var errUnheard = errors.New("cut off")

// scripted is a provider that treats a call as its token selects, and has the truth. Like a real provider it charges
// once for each idempotency key.
type scripted struct {
	gateway.Provider

	mu sync.Mutex
	// ahead is how far the clocks were moved.
	ahead   time.Duration
	deals   []*deal
	backs   []*back
	notices []*notice
	called  map[payment.AttemptID]bool
	held    []*heldCall
	// unwanted are calls that take money which their order withholds.
	unwanted []string
	// sparing is how many calls are held back from now on.
	sparing int
	// blind providers have no lookups: they receive commands, and their webhooks report the
	// rest.
	blind bool
	// keyless providers carry a call out each time that it comes.
	keyless bool
	// dated webhooks have the provider's time.
	dated bool
	// disputed counts the reports about disputes.
	disputed int
	// pages are where customers pay: each try on one is a transaction.
	pages bool
	// inTurn is set where nothing is done at once.
	inTurn bool
	// withheld is the reason on disk why no money may be taken for an attempt.
	withheld func(letter string, id payment.AttemptID) error
	// payback is the outcome of calls for refunds of the policy.
	payback string
	// idle gets a value for each command that ended or is held.
	idle chan struct{}
}

// deal is a payment as it is at the provider.
type deal struct {
	// name is the attempt's name: A1 is the attempt of request 1 of order A.
	name    string
	id, key string
	attempt payment.AttemptID
	// manual is set where the customer's money is on hold until it is captured.
	manual, held bool
	// price is the amount that the charge asked for.
	price int64
	// taken and back are how much was charged and refunded.
	taken, back int64
	// dollars is the amount taken in another currency.
	dollars int64
	// returned is the refunded amount, with refunds that were undone.
	returned int64
	undone   bool
	// byHand counts the refunds that were made in the dashboard.
	byHand int
	// over is set where the provider reported that it was over without money: a late payment may
	// follow.
	over     bool
	customer bool
	reversed bool
	disputes []*dispute
	// soft is set where the last try failed, and the payment is not over for that.
	soft bool
	commanded
	paged
}

func (d *deal) charged() bool { return d.taken > 0 }

// open reports whether the provider has not decided.
func (d *deal) open() bool { return !d.charged() && !d.held && !d.over }

// notice is a webhook that the provider has to send.
type notice struct {
	name  string
	of    *deal
	event webhooks.Event
	// verdict is the verdict of its first delivery.
	verdict fsm.Verdict
	changed bool
	// beside is set where it came at once with something that may have named the payment, so
	// that neither saw the other.
	beside bool
}

// heldCall is a call that waits until the test decides its outcome.
type heldCall struct {
	name   string
	answer chan string
	// late is set where it was decided, and only its response waits.
	late bool
}

func (p *scripted) reset() {
	*p = scripted{called: map[payment.AttemptID]bool{}, idle: make(chan struct{}, 1000)}
}

func (p *scripted) now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Add(p.ahead)
}

func (p *scripted) Capabilities() payment.Capabilities {
	can := payment.Capabilities{
		KeyLife: p.keyLife(), Lookup: payment.LookupConsistent, Identity: payment.IdentityOwn,
		Captures: payment.CapturesOnce, CapturesSeen: true, Cancels: payment.CancelsByID,
		Refunds: payment.RefundsParts, RefundLookup: payment.RefundLookupInPayment, RefundsConsistent: true,
	}
	if p.blind {
		can.Lookup, can.RefundLookup, can.RefundsConsistent = payment.LookupNone, payment.RefundLookupNone, false
	}
	return can
}

func (p *scripted) keyLife() time.Duration {
	if p.keyless {
		return 0
	}
	return 24 * time.Hour
}

// heldBack reports whether a call is not made, in order to spare the provider.
func (p *scripted) heldBack() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sparing == 0 {
		return false
	}
	p.sparing--
	return true
}

func (p *scripted) Charge(_ context.Context, c gateway.Charge) (gateway.Outcome, error) {
	if p.heldBack() {
		return gateway.Outcome{}, errHeldBack
	}
	name, what, _ := strings.Cut(c.Token, " ")
	if p.inTurn && p.withheld(name[:1], c.Attempt) != nil {
		p.unwanted = append(p.unwanted, name+" is charged")
	}
	switch first := p.first(c.Attempt); {
	case !first && what == isFrozen:
		what = staysOpen
	case !first:
		what = isPaid
	case what == isFrozen:
		what = p.hold(name, false)
	}
	if err := c.Permit.Check(); err != nil {
		return gateway.Outcome{}, err
	}
	switch what {
	case isNotSent:
		return gateway.Outcome{}, gateway.ErrNotSent
	case neverArrives:
		return gateway.Outcome{}, errUnheard
	case isRefused:
		if p.deal(func(d *deal) bool { return d.key == c.IdempotencyKey }) == nil {
			return gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "")}, nil
		}
	}
	d, fresh := p.arrive(name, c)
	if what == isHeld {
		what, fresh = p.hold(name, false), true
	}
	if fresh {
		p.decide(d, what)
	}
	switch {
	case unheard(what):
		return gateway.Outcome{}, errUnheard
	case strings.HasSuffix(what, ", answered late"):
		return p.answersLate(name, p.outcome(d))
	}
	return p.outcome(d), nil
}

func unheard(what string) bool { return strings.HasSuffix(what, ", unheard") }

// answersLate lets a response wait, while the world goes on.
func (p *scripted) answersLate(name string, o gateway.Outcome) (gateway.Outcome, error) {
	if unheard(p.hold(name, true)) {
		return gateway.Outcome{}, errUnheard
	}
	return o, nil
}

func (p *scripted) first(id payment.AttemptID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := !p.called[id]
	p.called[id] = true
	return first
}

// hold lets the call wait and returns its outcome.
func (p *scripted) hold(name string, late bool) string {
	c := &heldCall{name: name, answer: make(chan string), late: late}
	p.mu.Lock()
	p.held = append(p.held, c)
	slices.SortFunc(p.held, func(a, b *heldCall) int { return strings.Compare(a.name, b.name) })
	p.mu.Unlock()
	p.idle <- struct{}{}
	return <-c.answer
}

func (p *scripted) arrive(name string, c gateway.Charge) (d *deal, fresh bool) {
	if d = p.deal(func(d *deal) bool { return d.key == c.IdempotencyKey }); d != nil {
		return d, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	d = &deal{name: name, id: "ch-" + c.Attempt.String(), key: c.IdempotencyKey, attempt: c.Attempt, manual: c.Capture == payment.CaptureManual, price: c.Money.Minor}
	d.refused = map[string]bool{}
	if d.transaction = d.id; p.pages {
		d.page, d.transaction = d.id, ""
	}
	p.deals = append(p.deals, d)
	return d, true
}

func (p *scripted) deal(is func(*deal) bool) *deal {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.IndexFunc(p.deals, is); i >= 0 {
		return p.deals[i]
	}
	return nil
}

func (p *scripted) of(name string) *deal { return p.deal(func(d *deal) bool { return d.name == name }) }

// decide decides an open payment at the provider.
func (p *scripted) decide(d *deal, what string) {
	if !d.open() {
		return
	}
	switch what, _, _ = strings.Cut(what, ","); what {
	case isPaid:
		p.take(d)
	case isDeclined:
		p.end(d)
	case wantsCustomer:
		d.customer = true
		p.note(d, webhooks.KindActionRequired)
	default:
		p.note(d, webhooks.KindProcessing)
	}
}

// take takes the customer's money, or holds it until it is captured.
func (p *scripted) take(d *deal) {
	d.begin()
	d.held, d.voided, d.soft = true, false, false
	p.note(d, webhooks.KindAuthorized)
	if !d.manual {
		p.charge(d, d.price)
	}
}

func (p *scripted) charge(d *deal, amount int64) {
	d.held, d.taken = false, d.taken+amount
	p.note(d, webhooks.KindSucceeded)
}

func (p *scripted) end(d *deal) {
	d.held, d.over = false, true
	p.note(d, webhooks.KindFailed)
}

// note puts a webhook on its way.
func (p *scripted) note(d *deal, kind webhooks.Kind) *notice {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := &notice{name: d.name + " " + string(kind), of: d, event: event(kind, d.attempt.String(), d.id)}
	n.event.ProviderPaymentID, n.event.Container = d.transaction, d.page
	if d.page != "" {
		n.event.References = []string{d.attempt.String(), cmp.Or(d.transaction, d.page)}
	}
	if p.dated {
		n.event.OccurredAt = time.Now()
	}
	if kind == webhooks.KindAuthorized {
		n.event.Money.Minor = d.price
	}
	if kind == webhooks.KindReversed || kind == webhooks.KindSucceeded {
		n.event.Money = &webhooks.Money{Minor: d.taken, Currency: "EUR"}
	}
	for i := 2; slices.ContainsFunc(p.notices, func(o *notice) bool { return o.name == n.name }); i++ {
		n.name = fmt.Sprintf("%s %s #%d", d.name, kind, i)
	}
	p.notices = append(p.notices, n)
	slices.SortFunc(p.notices, func(a, b *notice) int { return strings.Compare(a.name, b.name) })
	return n
}

// outcome is how a payment stands.
func (p *scripted) outcome(d *deal) gateway.Outcome {
	o := gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: d.transaction, Container: d.page}
	switch {
	case d.charged():
		o.Event, o.Money = fsm.EventSucceeded, &payment.Money{Minor: d.taken, Currency: "EUR"}
		o.Movements, o.Disputes = d.movements(), d.listed()
	case d.soft && !d.over:
		o.Event, o.Failure = fsm.EventSoftFailed, payment.NewFailure("card_declined", "")
	case d.held:
		o.Event, o.Money = fsm.EventAuthorized, &payment.Money{Minor: d.price, Currency: "EUR"}
	case d.over:
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("card_declined", "")
	case d.tried:
		o.Event, o.PageOpen, o.Failure = fsm.EventSoftFailed, true, payment.NewFailure("insufficient_funds", "")
	case d.customer:
		o.Event, o.NextAction = fsm.EventActionRequired, payment.Redirect("https://provider.example/"+d.id)
	}
	return o
}

func (p *scripted) tell(is func(*deal) bool) (gateway.Outcome, error) {
	d := p.deal(is)
	if p.heldBack() {
		if d != nil {
			d.kept = true // a discrepancy may state that no lookup was possible
		}
		return gateway.Outcome{}, errHeldBack
	}
	switch {
	case p.blind:
		return gateway.Outcome{}, gateway.ErrUnsupported
	case d == nil:
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	}
	if d.deaf {
		d.deaf = false
		return gateway.Outcome{}, errUnheard
	}
	if d.soft && d.over { // PayPal: the lookup shows the declined capture
		return gateway.Outcome{Event: fsm.EventSoftFailed, ProviderPaymentID: d.transaction, Container: d.page, Failure: payment.NewFailure("card_declined", "")}, nil
	}
	return p.respond(d, false)
}

func (p *scripted) Lookup(_ context.Context, id string) (gateway.Outcome, error) {
	if o, ok := p.secondPaid(id); ok && !p.heldBack() {
		return o, nil
	}
	return p.tell(named(id))
}

// named matches the deal whose payment has an id.
func named(id string) func(*deal) bool {
	return func(d *deal) bool { return d.id == id || d.transaction == id && id != "" }
}

func (p *scripted) Find(_ context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	return p.tell(func(d *deal) bool { return d.attempt == id })
}
