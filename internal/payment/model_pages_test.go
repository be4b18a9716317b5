package payment_test

import (
	"fmt"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// What may happen on a page where each try of the customer, in two tabs at once, too, is a
// transaction of its own.
const (
	tryDeclined = "is declined in another tab"
	paidTwice   = "is paid a second time in another tab"
)

// paged is what a deal with such a page has beside the transaction that is its own.
type paged struct {
	// tries counts the other ones, second is the one of them that took money.
	tries  int
	second string
	// told are those of which a webhook has told that they hold or took money.
	told []string
}

// another puts a webhook of another transaction of a payment on its way.
func (p *scripted) another(d *deal, kind webhooks.Kind) string {
	d.tries++
	id := fmt.Sprintf("try-%d-%s", d.tries, d.id)
	n := p.note(d, kind)
	n.event.Transaction, n.event.ProviderPaymentID, n.event.References = id, id, []string{d.attempt.String(), id}
	return id
}

// elsewhere reports whether a webhook tells of a try in another tab.
func (n *notice) elsewhere() bool {
	return n.event.Kind == webhooks.KindSoftFailed && n.event.Transaction != "" && n.event.Transaction != n.of.id
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

// heard notes the transaction of a webhook that was applied.
func (p *scripted) heard(n *notice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if id, kind := n.event.Transaction, n.event.Kind; !parked(n.said) && id != "" && (kind == webhooks.KindAuthorized || kind == webhooks.KindSucceeded) {
		n.of.told = append(n.of.told, id)
	}
}

// knows requires a command to come with all transactions that were told of.
func (p *scripted) knows(d *deal, transactions []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range d.told {
		if p.inTurn && !slices.Contains(transactions, id) {
			d.wrong = "is the matter of a command that does not name transaction " + id
		}
	}
}

// secondPaid is the answer to a question about a second payment.
func (p *scripted) secondPaid(id string) (payment.Outcome, bool) {
	if p.deal(func(d *deal) bool { return d.second != "" && d.second == id }) == nil {
		return payment.Outcome{}, false
	}
	return payment.Outcome{News: fsm.NewsSucceeded, ProviderPaymentID: id, Money: &payment.Money{Minor: price, Currency: "EUR"}}, true
}

// twice requires a person to be told, once, of what was paid twice under one attempt as
// soon as webhooks have told of both.
func (w *world) twice() {
	for _, d := range w.p.deals {
		a, times := w.attempts[d.name], 0
		for _, o := range w.opened {
			if o.Attempt == a.ID.String() && (o.About == "transaction "+d.id || d.second != "" && o.About == "transaction "+d.second) {
				times++
			}
		}
		both := d.second != "" && slices.Contains(d.told, d.id) && slices.Contains(d.told, d.second)
		if times > 1 || both != (times == 1) {
			w.Fatalf("both payments of %s were told of: %t, and a person is told %d times", d.name, both, times)
		}
	}
}
