package engine_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

// longOutage is longer than any schedule of lookups.
const longOutage = 60 * time.Hour

// outage lets no call through for days. A discrepancy is open for each call whose outcome only the provider could
// report.
func (w *world) outage(rt *rapid.T) {
	rt.Logf("OUTAGE: nobody is reached for %s", longOutage)
	w.p.sparing = math.MaxInt
	overdue := w.those(watched)
	// The first time that it is looked up a payment may have to be cancelled: that has a
	// schedule from then on.
	for _, by := range []time.Duration{time.Hour, longOutage} {
		w.pass(by)
		w.inVain(overdue)
	}
	w.p.sparing = 0
	w.look()
	for _, name := range overdue {
		if a := w.attempts[name]; a.MayHold() && !w.unreleased(a) {
			w.Fatalf("nobody can tell whether %s holds money, and no person is asked", name)
		}
	}
	for name, a := range w.attempts {
		lost := a.State == fsm.OutcomeUnknown || !a.State.Final() && a.Intent.Kind != ""
		called := !w.p.blind || a.ProviderPaymentID != "" // else there was no call to hold back
		if lost && called && w.openQuestion(a.ID, "") == "" {
			w.Fatalf("nobody can tell what became of %s, which is %s, and no person is asked", name, describe(a.Attempt))
		}
		for _, r := range w.pendingRefunds(name) {
			if w.openQuestion(a.ID, r.ID.String()) == "" {
				w.Fatalf("nobody can tell what became of a refund of %s, and no person is asked", name)
			}
		}
	}
	if can := w.questions(); len(can) > 0 && rapid.Bool().Draw(rt, "a person decides at once") {
		w.decideOne(rt, can)
	}
}

// inVain looks everything up while no call gets through.
func (w *world) inVain(names []string) {
	for _, name := range names {
		if d := w.p.of(name); d != nil && w.attempts[name].Failed() {
			d.kept = true // for all that can be seen
		}
		_, err := w.question(w.services[0], name)()
		w.must(err)
	}
	for _, one := range w.refunds {
		_, err := w.services[0].RecheckRefund(w.ctx, one.id, byTest)
		w.must(err)
	}
}

var (
	ofOutcome = []string{payment.AboutUnknownOutcome, payment.AboutNotCancelled}
	ofRefund  = []string{payment.AboutRefundUnknown, payment.AboutRefundSlow}
)

// openQuestion is the open discrepancy about the outcome of an attempt, or of a refund of it.
func (w *world) openQuestion(id payment.AttemptID, about string) string {
	i := slices.IndexFunc(w.opened, func(o opened) bool {
		return o.Kind == string(payment.NeedsReview) && o.Attempt == id.String() && o.Open != "" &&
			(about == "" && slices.Contains(ofOutcome, o.About) || about != "" && o.AboutID == about && slices.Contains(ofRefund, o.About))
	})
	if i < 0 {
		return ""
	}
	return w.opened[i].Open
}

// decide resolves, by the provider's dashboard, a discrepancy that can't end otherwise.
func (w *world) decide(rt *rapid.T) { w.decideOne(rt, w.questions()) }

func (w *world) decideOne(rt *rapid.T, can map[string]func()) {
	what := pick(rt, "question", slices.Sorted(maps.Keys(can)))
	rt.Logf("PERSON decides about %s", what)
	can[what]()
}

// questions are the possible resolutions, by name.
func (w *world) questions() map[string]func() {
	can := map[string]func(){}
	for name, a := range w.attempts {
		how, id := w.seen(name)
		if question := w.openQuestion(a.ID, ""); question != "" && how != "" && !a.State.Final() {
			can[name] = func() { w.decideAttempt(name, question, how, id) }
		}
	}
	for i, one := range w.refunds {
		if question := w.openQuestion(w.attempts[one.of].ID, one.id.String()); question != "" && w.pends(one) {
			can[fmt.Sprintf("%s's refund %d", one.of, i)] = func() { w.decideRefund(one, question) }
		}
	}
	return can
}

// seen is the end of a payment by its provider's dashboard. It is empty if the payment has not ended, or has an amount
// or a name that no resolution takes.
func (w *world) seen(name string) (how payment.Resolution, id string) {
	a, d := w.attempts[name], w.p.of(name)
	asked := a.Money.Minor
	if a.Intent.Kind == payment.OperationCapture {
		asked = a.Intent.Amount
	}
	switch {
	case d == nil, d.over && !d.held && !d.charged() && a.ProviderPaymentID != "":
		return payment.ResolvedNotPaid, ""
	case d.taken == asked:
		return payment.ResolvedPaid, cmp.Or(d.transaction, d.id)
	}
	return "", ""
}

func (w *world) resolved(question string, how payment.Resolution, id string) error {
	cmd := commands.Resolve{
		ID: payment.DiscrepancyID(uuid.MustParse(question)), Resolution: how, ProviderPaymentID: id, Reason: "seen in its dashboard",
	}
	d, err := w.services[1].Resolve(w.ctx, sam, cmd)
	if err == nil && d.Awaits() || errors.Is(err, payment.ErrSecondPerson) { // or sam has proposed it before
		w.Logf("    %s, and the provider can't be asked", how)
		_, err = w.services[1].Resolve(w.ctx, kim, cmd)
	}
	w.Logf("    %s %v", how, err)
	return err
}

func (w *world) decideAttempt(name, question string, how payment.Resolution, id string) {
	err := w.resolved(question, how, id)
	if a := w.attempts[name]; how == payment.ResolvedNotPaid && a.ForeignMoney { // during any operation
		if !errors.Is(err, payment.ErrHoldsMoney) {
			w.Fatalf("%s holds dollars, and a person may call it not paid: %v", name, err)
		}
		w.settle(name)
		return
	}
	if w.underWay(name) {
		if !errors.Is(err, payment.ErrBusy) {
			w.Fatalf("the call of %s is under way, and a person may decide: %v", name, err)
		}
		return
	}
	w.must(err)
	w.look()
	if a := w.attempts[name]; a.Succeeded() != (how == payment.ResolvedPaid) || !a.State.Final() {
		w.Fatalf("%s was resolved as %s and is %s", name, how, describe(a.Attempt))
	}
}

// decideRefund ends a refund. A resolution without a lookup may be wrong. A resolution that the provider contradicts is
// refused.
func (w *world) decideRefund(one *asked, question string) {
	there := w.p.refund(func(b *back) bool { return b.refund == one.id })
	if there != nil && there.done && !there.failed {
		w.must(w.resolved(question, payment.ResolvedPaid, there.id))
		return
	}
	err := w.resolved(question, payment.ResolvedNotPaid, "")
	if there != nil && !there.failed && errors.Is(err, payment.ErrResolutionImpossible) {
		return // it is under way
	}
	w.must(err)
	one.denied = true
}

// pends reports whether a refund is under way.
func (w *world) pends(one *asked) bool {
	return slices.ContainsFunc(w.pendingRefunds(one.of), func(r payment.Refund) bool { return r.ID == one.id })
}
