package payment_test

import (
	"fmt"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

const (
	chargedBack   = "is charged back in part"
	chargebackWon = "has a chargeback won"
	// maxChargebacks leaves something of each payment.
	maxChargebacks = 2
)

// dispute is a chargeback of a part, which may be won.
type dispute struct {
	id  string
	won bool
}

// disputed is how much of a payment chargebacks took and did not return.
func (d *deal) disputed() (sum int64) {
	for _, c := range d.disputes {
		if !c.won {
			sum += aPart
		}
	}
	return sum
}

// quarrels are what may happen between a cardholder and his bank.
func (w *world) quarrels(d *deal) (can []string) {
	if w.account == repaying || !d.charged() || d.reversed {
		return nil
	}
	if len(d.disputes) < maxChargebacks {
		can = append(can, d.name+" "+chargedBack)
	}
	if d.disputed() > 0 {
		can = append(can, d.name+" "+chargebackWon)
	}
	return can
}

func (p *scripted) chargeBack(d *deal) {
	c := &dispute{id: fmt.Sprintf("dp-%d-%s", len(d.disputes), d.id)}
	d.disputes = append(d.disputes, c)
	p.noteDispute(d, c, webhooks.KindChargeback)
}

func (p *scripted) winChargeback(d *deal) {
	for _, c := range d.disputes {
		if !c.won {
			c.won = true
			p.noteDispute(d, c, webhooks.KindChargebackReversed)
			return
		}
	}
}

func (p *scripted) noteDispute(d *deal, c *dispute, kind webhooks.Kind) {
	n := p.note(d, kind)
	n.event.MovementID, n.event.Transaction = c.id, ""
	n.event.Money = &webhooks.Money{Minor: aPart, Currency: "EUR"}
}

// movements are what a lookup lists of a payment's money after it was captured.
func (d *deal) movements() (all []payment.Told) {
	part := payment.Money{Minor: aPart, Currency: "EUR"}
	for _, c := range d.disputes {
		all = append(all, payment.Told{Kind: payment.MovementChargeback, ID: c.id, Money: part})
		if c.won {
			all = append(all, payment.Told{Kind: payment.MovementChargebackReversal, ID: c.id, Money: part})
		}
	}
	if d.reversed {
		all = append(all, payment.Told{Kind: payment.MovementCaptureReversal, Money: payment.Money{Minor: d.taken, Currency: "EUR"}})
	}
	return all
}

// quarrelled checks the chargebacks of an attempt: it may have fewer, and their ends before they
// began.
func (w *world) quarrelled(name string, a known, d *deal) {
	if most := aPart * int64(len(d.disputes)); a.Disputed > most || a.Disputed < -most {
		w.Fatalf("%s says that chargebacks took %d, and there were %d", name, a.Disputed, len(d.disputes))
	}
}
