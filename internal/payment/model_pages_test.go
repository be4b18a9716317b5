package payment_test

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// What may happen on a page where each try of the customer, in two tabs at once, too, is a
// transaction of its own.
const (
	tryDeclined = "is declined in another tab"
	triedInVain = "is declined on the page, where the customer may try again"
	paidTwice   = "is paid a second time in another tab"
)

// paged is what a deal with such a page has beside the transaction that is its own.
type paged struct {
	// tried is set where the last try was declined and the page is open.
	tried bool
	// transaction is its own. One that failed stays so: money that comes late has another.
	transaction string
	// failed are those before it.
	failed []string
	// tries counts the other ones, second is the one of them that took money.
	tries  int
	second string
	// reported are those of which a webhook has reported that they hold or took money.
	reported []string
	// meanwhile are those of them that were reported while a call was held.
	meanwhile []string
}

// twice is what the second payment took.
func (d *deal) twice() int64 {
	if d.second == "" {
		return 0
	}
	return price
}

// bothTold reports whether webhooks have reported both payments of it.
func (d *deal) bothTold() bool {
	return d.second != "" && slices.Contains(d.reported, d.transaction) && slices.Contains(d.reported, d.second)
}

// another puts a webhook of another transaction of a payment on its way.
func (p *scripted) another(d *deal, kind webhooks.Kind) string {
	d.tries++
	id := fmt.Sprintf("try-%d-%s", d.tries, d.id)
	n := p.note(d, kind)
	if kind == webhooks.KindSoftFailed {
		n.event.PageOpen, n.event.FailureCode = true, "insufficient_funds"
	}
	n.event.ProviderPaymentID, n.event.References = id, []string{d.attempt.String(), id}
	return id
}

// elsewhere reports whether a webhook is of a try in another tab.
func (n *notice) elsewhere() bool {
	return n.event.Kind == webhooks.KindSoftFailed && n.event.ProviderPaymentID != n.of.transaction && n.event.ProviderPaymentID != n.of.id
}

// tabs lists what may happen in another tab, once the customer has the page's address.
func (w *world) tabs(d *deal) (can []string) {
	if !w.p.pages || w.attempts[d.name].ProviderPaymentID != d.id {
		return nil
	}
	if !d.over {
		can = append(can, d.name+" "+tryDeclined)
	}
	if d.second == "" && !d.over && !d.manual && d.charged() {
		can = append(can, d.name+" "+paidTwice)
	}
	return can
}

// tryInVain lets a customer's card be declined on a page that stays open.
func (w *world) tryInVain(rt *rapid.T) {
	var can []string
	for _, d := range w.p.deals {
		if d.open() && d.customer && w.attempts[d.name].ProviderPaymentID == d.id {
			can = append(can, d.name)
		}
	}
	slices.Sort(can)
	w.does(rt, pick(rt, "page", can)+" "+triedInVain)
}

// applied keeps the transaction of a webhook that was applied.
func (p *scripted) applied(n *notice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.blind && n.of.over && n.event.Kind == webhooks.KindAuthorized {
		n.of.kept = true // nothing shows whether it came before the end
	}
	if id, kind := n.event.ProviderPaymentID, n.event.Kind; p.pages && !parked(n.verdict) && (kind == webhooks.KindAuthorized || kind == webhooks.KindSucceeded) {
		n.of.reported = append(n.of.reported, id)
		// A call that is held may be sent after its lookup, with what was reported when it was taken.
		if slices.ContainsFunc(p.held, func(c *heldCall) bool { return strings.HasPrefix(c.name, n.of.name) }) {
			n.of.meanwhile = append(n.of.meanwhile, id)
		}
	}
}

// carries requires a command to be of a payment that was not declined.
func (p *scripted) carries(d *deal, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.inTurn && slices.Contains(d.failed, id) && len(d.reported) > 0 && !slices.Contains(d.meanwhile, d.transaction) {
		d.wrong = "is the matter of a command to the payment " + id + ", which failed"
	}
}

// secondPaid is the result of a lookup of a second payment, or of a try that failed.
func (p *scripted) secondPaid(id string) (gateway.Outcome, bool) {
	if p.deal(func(d *deal) bool { return slices.Contains(d.failed, id) }) != nil {
		return gateway.Outcome{News: fsm.NewsFailed, ProviderPaymentID: id, Failure: payment.NewFailure("card_declined", "")}, true
	}
	if p.deal(func(d *deal) bool { return d.second != "" && d.second == id }) == nil {
		return gateway.Outcome{}, false
	}
	return gateway.Outcome{News: fsm.NewsSucceeded, ProviderPaymentID: id, Money: &payment.Money{Minor: price, Currency: "EUR"}}, true
}

// twice requires a discrepancy, once, of what was paid twice under one attempt as soon as
// webhooks have reported both.
func (w *world) twice() {
	for _, d := range w.p.deals {
		a, times := w.attempts[d.name], 0
		for _, o := range w.opened {
			if o.Attempt == a.ID.String() && o.About == payment.AboutSecondPayment && (o.AboutID == d.transaction || d.second != "" && o.AboutID == d.second) {
				times++
			}
		}
		both := d.bothTold()
		anew := d.transaction != d.id // and the end of the hold before it may be reported later
		if times > 1 || both && times != 1 && !d.reversed || !both && times == 1 && !anew {
			w.Fatalf("both payments of %s were told of: %t, and a person is told %d times", d.name, both, times)
		}
	}
}
