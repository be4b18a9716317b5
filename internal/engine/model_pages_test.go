package engine_test

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

// The possible events on a page. Each try of the customer is a transaction of its own, even in two tabs at once.
const (
	tryDeclined = "is declined in another tab"
	triedInVain = "is declined on the page, where the customer may try again"
	paidTwice   = "is paid a second time in another tab"
)

// paged is the state of a deal with such a page, beside its own transaction.
type paged struct {
	// tried is set where the last try was declined and the page is open.
	tried bool
	// transaction is the deal's own, page the page in which it is made; empty if there is none. A transaction has no name
	// before its customer pays. A failed transaction stays failed: late money has another transaction.
	transaction, page string
	// failed are the failed transactions before it.
	failed []string
	// tries counts the other transactions, second is the other transaction that took money.
	tries  int
	second string
	// reported are the transactions whose money a webhook has reported, on hold or taken.
	reported []string
	// meanwhile are the reported transactions that were reported while a call was held.
	meanwhile []string
}

// twice is the amount of the second payment.
func (d *deal) twice() int64 {
	if d.second == "" {
		return 0
	}
	return d.price
}

// bothTold reports whether webhooks have reported both payments of it.
func (d *deal) bothTold() bool {
	return d.second != "" && slices.Contains(d.reported, d.transaction) && slices.Contains(d.reported, d.second)
}

// secondTold reports whether a webhook has reported the second payment of the deal. The first payment may have been
// reported by its call.
func (d *deal) secondTold() bool { return d.second != "" && slices.Contains(d.reported, d.second) }

// begin gives a payment that its customer makes on the page its name.
func (d *deal) begin() {
	if d.transaction == "" {
		d.transaction = "pay-" + d.id
	}
}

// another puts a webhook of another transaction of a payment on its way.
func (p *scripted) another(d *deal, kind webhooks.Kind) string {
	d.tries++
	id := fmt.Sprintf("try-%d-%s", d.tries, d.id)
	n := p.note(d, kind)
	if kind == webhooks.KindFailed {
		n.event.PageOpen, n.event.FailureCode = true, "insufficient_funds"
	}
	n.event.ProviderPaymentID, n.event.Container, n.event.References = id, d.page, []string{d.attempt.String(), id}
	return id
}

// elsewhere reports whether a webhook is of a try in another tab.
func (n *notice) elsewhere() bool {
	return n.event.PageOpen
}

// tabs lists the possible events in another tab, once the customer has the page's address.
func (w *world) tabs(d *deal) (can []string) {
	if a := w.attempts[d.name]; !w.p.pages || !a.Knows(d.id) {
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
		if a := w.attempts[d.name]; d.open() && d.customer && a.Knows(d.id) {
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
		// A held call may be sent after its lookup, with the reports until its take.
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
	if d := p.deal(func(d *deal) bool { return slices.Contains(d.failed, id) }); d != nil {
		return gateway.Outcome{Event: fsm.EventFailed, ProviderPaymentID: id, Container: d.page, Failure: payment.NewFailure("card_declined", "")}, true
	}
	d := p.deal(func(d *deal) bool { return d.second != "" && d.second == id })
	if d == nil {
		return gateway.Outcome{}, false
	}
	return gateway.Outcome{Event: fsm.EventSucceeded, ProviderPaymentID: id, Container: d.page, Money: &payment.Money{Minor: d.price, Currency: "EUR"}}, true
}

// twice requires one discrepancy for a second payment of an attempt as soon as webhooks have reported both payments, and the
// release of a second hold is not under way.
func (w *world) twice() {
	for _, d := range w.p.deals {
		a, times := w.attempts[d.name], 0
		for _, o := range w.opened {
			if o.Attempt == a.ID.String() && o.About == payment.AboutSecondPayment && (o.AboutID == d.transaction || d.second != "" && o.AboutID == d.second) {
				times++
			}
		}
		both := d.bothTold() && !slices.ContainsFunc(a.Open, func(o payment.OperationName) bool { return o.Kind == payment.OperationCancel })
		anew := strings.HasPrefix(d.transaction, "late-") // and the end of the hold before it may be reported later
		if times > 1 || both && times != 1 && !d.reversed || !d.secondTold() && times == 1 && !anew {
			w.Fatalf("both payments of %s were told of: %t, and a person is told %d times", d.name, both, times)
		}
	}
}
