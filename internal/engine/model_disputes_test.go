package engine_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
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
	// at is the provider's time of this status, zero where events have no time.
	at time.Time
}

// told is the status of the dispute in a webhook.
func (c *dispute) told() *webhooks.Dispute {
	status := webhooks.DisputeOpen
	if c.won {
		status = webhooks.DisputeWon
	}
	return &webhooks.Dispute{ID: c.id, Status: status, Money: &webhooks.Money{Minor: aPart, Currency: "EUR"}}
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

// quarrels are the possible actions of a cardholder and the bank.
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
	n.event.OccurredAt = time.Time{}
	if p.dated {
		p.disputed++ // a clock of its own, which no test moves
		n.event.OccurredAt = disputeEpoch.Add(time.Duration(p.disputed) * time.Second)
	}
	c.at = n.event.OccurredAt
	n.event.Dispute = c.told()
	n.event.MovementID = c.id
	n.event.Money = &webhooks.Money{Minor: aPart, Currency: "EUR"}
}

// movements are the movements after the capture that a lookup lists for a payment.
func (d *deal) movements() (all []payment.MovementReport) {
	part := payment.Money{Minor: aPart, Currency: "EUR"}
	for _, c := range d.disputes {
		all = append(all, payment.MovementReport{Kind: payment.MovementChargeback, ID: c.id, Money: part})
		if c.won {
			all = append(all, payment.MovementReport{Kind: payment.MovementChargebackReversal, ID: c.id, Money: part})
		}
	}
	if d.reversed {
		all = append(all, payment.MovementReport{Kind: payment.MovementCaptureReversal, Money: payment.Money{Minor: d.taken, Currency: "EUR"}})
	}
	return all
}

// listed are the disputes that a lookup lists.
func (d *deal) listed() (all []payment.DisputeReport) {
	for _, c := range d.disputes {
		t := c.told()
		all = append(all, payment.DisputeReport{
			ProviderID: c.id, Status: fsm.DisputeState(t.Status), Money: &payment.Money{Minor: t.Money.Minor, Currency: "EUR"}, At: c.at,
		})
	}
	return all
}

// quarrelled checks the chargebacks and disputes of an attempt: it may have fewer, and their ends
// before they began.
func (w *world) quarrelled(name string, a known, d *deal) {
	if most := aPart * int64(len(d.disputes)); a.Disputed > most || a.Disputed < -most {
		w.Fatalf("%s says that chargebacks took %d, and there were %d", name, a.Disputed, len(d.disputes))
	}
	for id, status := range w.disputesOf(a) {
		i := slices.IndexFunc(d.disputes, func(c *dispute) bool { return c.id == id })
		if i < 0 || status == webhooks.DisputeWon && !d.disputes[i].won {
			w.Fatalf("%s says that the dispute %s is %s, which the provider never said", name, id, status)
		}
	}
}

// disputesEnded checks that all disputes of an attempt are there, as they stand at the provider.
func (w *world) disputesEnded(name string, a known, d *deal) {
	there := w.disputesOf(a)
	for _, c := range d.disputes {
		if want := c.told().Status; there[c.id] != want {
			w.Fatalf("the dispute %s of %s is %s, and was %q in the end", c.id, name, want, there[c.id])
		}
	}
}

// disputesOf are the disputes that are stored of an attempt.
func (w *world) disputesOf(a known) map[string]webhooks.DisputeStatus {
	all, err := w.store.Disputes(w.ctx, a.ID)
	w.must(err)
	there := map[string]webhooks.DisputeStatus{}
	for _, d := range all {
		there[d.ProviderDisputeID] = webhooks.DisputeStatus(d.State)
	}
	return there
}
