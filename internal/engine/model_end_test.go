package engine_test

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/ledger/verify"
	"github.com/paylatch/paylatch/internal/payment"
)

// end lets everything that is under way arrive, looks everything up, and then holds the attempts
// against the truth.
func (w *world) end() {
	w.p.sparing = 0
	for _, name := range w.heldCalls() {
		if rapid.Bool().Draw(w.T, "its process has died") {
			w.Logf("END: the process that made the held call of %s has died", name)
			continue
		}
		what := openUnheard
		if w.heldCall(name).late {
			what = isHeard
		}
		w.Logf("END: the held call of %s %s", name, what)
		w.release(name, what)
		w.look()
	}
	if rapid.SampledFrom([]bool{false, true, true}).Draw(w.T, "all that is open is paid in the end") {
		for _, d := range w.p.deals {
			if d.open() {
				w.Logf("END: %s is paid", d.name)
				w.p.take(d)
			}
		}
		for _, r := range w.p.backs {
			if r.open() {
				w.Logf("END: %s is paid back", r.of.name)
				w.p.giveBack(r)
			}
		}
	}
	if rest := w.notices(false); len(rest) > 1 {
		for _, name := range rapid.Permutation(rest).Draw(w.T, "the other webhooks") {
			w.Logf("END: webhook %q", name)
			w.deliver(w.services[0], w.notice(name))
		}
		w.look()
	}
	w.pass(24 * time.Hour)
	for w.rounds == 0 || w.busy() && w.rounds < 12 {
		w.rounds++
		w.round()
		if w.account == repaying {
			w.pass(time.Hour) // it may have been sent only now
		}
	}
	w.look()
	w.finish()
	if can := w.questions(); w.p.blind { // only a person can end these
		for _, what := range slices.Sorted(maps.Keys(can)) {
			w.Logf("END: a person decides about %s", what)
			can[what]()
		}
	}
	for range 3 { // an attempt that is released now, or over, is looked up once more
		w.round()
	}
	for _, name := range w.names() {
		w.agrees(name)
	}
	for _, one := range w.refunds {
		w.paidBack(one)
	}
	w.published()
	for _, n := range w.p.notices {
		if parked(n.verdict) {
			w.Fatalf("webhook %q is still parked: %s", n.name, n.verdict)
		}
	}
	w.verify()
}

// round does the work of the workers in the end.
func (w *world) round() {
	for _, name := range w.notices(false) {
		w.Logf("END: webhook %q", name)
		w.deliver(w.services[0], w.notice(name))
	}
	for _, name := range w.names() {
		w.Logf("END: ask about %s", name)
		v, err := w.services[1].Recheck(w.ctx, w.attempts[name].ID, byTest)
		w.must(err)
		w.Logf("    %s", describe(v.Attempt))
	}
	for _, one := range w.refunds {
		_, err := w.services[0].RecheckRefund(w.ctx, one.id, byTest)
		w.must(err)
	}
	w.retry()
	w.look()
}

// busy reports whether there is something that may still move by itself.
func (w *world) busy() bool {
	if len(w.notices(false)) > 0 || slices.ContainsFunc(w.p.notices, func(n *notice) bool { return parked(n.verdict) }) {
		return true
	}
	for name, a := range w.attempts {
		if d := w.p.of(name); a.NextCheckAt != nil && (a.State.Final() || d == nil || d.charged() || d.over || d.soft || a.Intent.Kind != "") {
			return true
		}
		if len(w.pendingRefunds(name)) > 0 && (w.rounds == 0 || w.p.blind || w.account == repaying && w.rounds < 4) {
			return true
		}
	}
	return false
}

// retry tries every parked event.
func (w *world) retry() {
	_, err := w.db.Exec(w.ctx, "UPDATE provider_events SET next_try_at = now() WHERE next_try_at IS NOT NULL")
	w.must(err)
	_, err = retryParked(w.ctx, w.services[0], 100)
	w.must(err)
}

// agrees holds an attempt against the truth.
func (w *world) agrees(name string) {
	a, d := w.attempts[name], w.p.of(name)
	if d != nil {
		w.disputesEnded(name, a, d)
	}
	switch {
	case a.State.Final() && watched(a):
		w.Fatalf("%s is %s, and is still asked about", name, describe(a.Attempt))
	case d == nil && !a.Failed():
		w.Fatalf("the provider never got %s, which is %s", name, describe(a.Attempt))
	case d == nil:
	case d.charged() && a.gross() != d.taken+d.twice():
		w.Fatalf("the customer paid %s, which is %s", name, describe(a.Attempt))
	case d.charged() && !a.Succeeded() && !w.reviewed(a, lateMoney...) && !w.reviewed(a, payment.AmountMismatch):
		w.Fatalf("the customer paid %s, which is %s, and nobody is told", name, describe(a.Attempt))
	case d.held && a.Failed() && !w.reviewed(a, payment.NeedsReview):
		w.Fatalf("money is held for %s, which is %s, and nobody is told", name, describe(a.Attempt))
	case d.held && !a.Failed() && w.withheldOf(name) != nil:
		w.Fatalf("money is held for %s, whose order takes none: it should have been given up", name)
	case a.MayHold() && !w.unreleased(a) && a.Intent.Kind != payment.OperationCancel:
		w.Fatalf("nothing is held for %s, and it is in the way of another pay", name)
	case d.held && !a.Failed() && a.State != fsm.Authorized:
		w.Fatalf("money is held for %s, which is %s", name, describe(a.Attempt))
	case !d.charged() && !d.held && d.over && !a.Failed():
		w.Fatalf("the provider said that %s is over, which is %s", name, describe(a.Attempt))
	case d.open() && a.State.Final():
		w.Fatalf("%s is open at the provider, and is %s", name, describe(a.Attempt))
	case d.reversed && (a.Reversed != d.taken || !w.reviewed(a, payment.PaymentReversed)):
		w.Fatalf("the money of %s was taken back, and nobody is told", name)
	case a.Disputed != d.disputed(), len(d.disputes) > 0 && !w.reviewed(a, payment.PaymentReversed):
		w.Fatalf("chargebacks of %s took %d, and it says %d; a person is told: %t", name, d.disputed(), a.Disputed, w.reviewed(a, payment.PaymentReversed))
	case d.undone != w.reviewed(a, payment.RefundReversed):
		w.Fatalf("a refund of %s was undone: %t, and a person is told otherwise", name, d.undone)
	case a.Refunded != d.back:
		w.Fatalf("%d of %s were paid back, and it says %d", d.back, name, a.Refunded)
	}
}

// published requires an event for the merchant of each end, once.
func (w *world) published() {
	found, err := w.db.Query(w.ctx, "SELECT type || ' ' || subject FROM outbox WHERE order_id = ANY($1)", w.orders())
	w.must(err)
	events, err := pgx.CollectRows(found, pgx.RowTo[string])
	w.must(err)
	times := map[string]int{}
	for _, e := range events {
		times[e]++
	}
	require := func(event string, is bool) {
		if n := times[event]; is != (n == 1) || n > 1 {
			w.Fatalf("the merchant is told %d times %s, and that is %t", n, event, is)
		}
	}
	for _, name := range w.names() {
		a := w.attempts[name]
		require(outbox.AttemptSucceeded+" "+a.ID.String(), a.Succeeded())
		require(outbox.AttemptFailed+" "+a.ID.String(), a.Failed())
	}
	for _, id := range w.orders() {
		o, err := w.store.Order(w.ctx, id)
		if errors.Is(err, payment.ErrOrderNotFound) {
			continue
		}
		w.must(err)
		require(outbox.OrderPaid+" "+string(id), o.Status() == payment.OrderPaid)
		if o.Accepted == nil { // a cancelled order may be paid by late money
			require(outbox.OrderCancelled+" "+string(id), o.Status() == payment.OrderCancelled)
		}
	}
	for _, one := range w.refunds {
		r, err := w.store.Refund(w.ctx, one.id)
		w.must(err)
		require(outbox.RefundSucceeded+" "+one.id.String(), r.State == fsm.RefundSucceeded)
		require(outbox.RefundFailed+" "+one.id.String(), r.State == fsm.RefundFailed)
	}
}

// paidBack holds a refund against the truth.
func (w *world) paidBack(one *asked) {
	r, err := w.store.Refund(w.ctx, one.id)
	w.must(err)
	there := w.p.refund(func(b *back) bool { return b.refund == one.id })
	done, want := there != nil && there.done, fsm.RefundFailed
	switch {
	case one.denied:
	case there != nil && there.failed && !done:
	case done, isByHand(r.ProviderRefundID): // the provider can mean no other
		want = fsm.RefundSucceeded
	case there != nil:
		want = fsm.RefundPending
	}
	wrong := slices.ContainsFunc(w.opened, func(o opened) bool {
		return o.About == payment.AboutPaidAfterFailedRefund && o.AboutID == one.id.String()
	})
	switch {
	case r.State != want:
		w.Fatalf("a refund of %s is %s and should be %s", one.of, r.State, want)
	case wrong != (one.denied && done):
		w.Fatalf("a person said that a refund of %s was not paid: %t, it was: %t, somebody is told: %t", one.of, one.denied, done, wrong)
	}
}

// verify makes every attempt of the world again from its log.
func (w *world) verify() {
	archive := archiveOf(w.store)
	for after := w.last; ; {
		v, err := verify.Verify(w.ctx, archive, after, 50, false)
		w.must(err)
		for _, d := range v.Differences {
			w.Fatalf("paylatch verify: %s: %s", d.Check, d.Text)
		}
		if v.Attempts == 0 {
			return
		}
		after = v.Last
		w.last = after
	}
}
