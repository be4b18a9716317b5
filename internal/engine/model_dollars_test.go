package engine_test

import (
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// dollarPrice is the amount taken in dollars for a payment in euros.
const dollarPrice = 2499

// withheld is the reason on disk why no money may be taken for an attempt.
func (w *world) withheld(letter string, id payment.AttemptID) error {
	o, err := w.store.Order(w.ctx, w.order(letter))
	w.must(err)
	if o.CancelRequestedAt != nil {
		return payment.ErrOrderCancelled
	}
	for _, a := range o.Attempts {
		if a.ID != id && a.HoldsMoney() {
			return payment.ErrOrderPaid
		}
	}
	return nil
}

func (w *world) withheldOf(name string) error { return w.withheld(name[:1], w.attempts[name].ID) }

func (n *notice) inDollars() bool { return n.event.Money != nil && n.event.Money.Currency == "USD" }

// dollars lets a provider report that it took dollars for a payment that had failed.
func (w *world) dollars(rt *rapid.T) {
	var can []string
	for _, d := range w.p.deals {
		if d.over && !d.charged() && d.dollars == 0 && !w.p.pages {
			can = append(can, d.name)
		}
	}
	slices.Sort(can)
	name := pick(rt, "whose", can)
	rt.Logf("PROVIDER: %s is paid late in dollars", name)
	d := w.p.of(name)
	d.dollars = dollarPrice
	n := w.p.note(d, webhooks.KindSucceeded)
	n.event.Money = &webhooks.Money{Minor: dollarPrice, Currency: "USD"}
	w.deliver(w.service(rt), n)
}

// unsettled is the open discrepancy about an attempt's dollars.
func (w *world) unsettled(name string) string {
	found, err := w.db.Query(w.ctx, "SELECT discrepancy_id::text FROM discrepancies WHERE attempt_id = $1 AND kind = 'currency_mismatch' AND resolved_at IS NULL",
		w.attempts[name].ID.String())
	w.must(err)
	ids, err := pgx.CollectRows(found, pgx.RowTo[string])
	w.must(err)
	return strings.Join(ids, " ")
}

// settleDollars resolves them.
func (w *world) settleDollars(rt *rapid.T) {
	name := pick(rt, "whose", w.those(func(a known) bool { return a.Foreign > a.ForeignReturned && a.State.Final() }))
	w.settle(name)
}

// settle resolves that dollars went back, once no call is under way. That ends a pending
// attempt; of another one nothing but another pay hangs on it.
func (w *world) settle(name string) {
	w.Logf("PERSON settles the dollars of %s", name)
	was := w.attempts[name]
	err := w.resolved(w.unsettled(name), payment.ResolvedRefundedElsewhere, "")
	if errors.Is(err, payment.ErrBusy) && (w.underWay(name) || was.MayHold()) { // a call may still release the hold
		return
	}
	w.must(err)
	w.look()
	a := w.attempts[name]
	if a.ForeignMoney || a.Foreign != a.ForeignReturned || !a.State.Final() || was.State.Final() && a.State != was.State {
		w.Fatalf("the dollars of %s are settled, and it has %d cents of which %d are back", name, a.Foreign, a.ForeignReturned)
	}
}
