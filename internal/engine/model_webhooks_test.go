package engine_test

import (
	"errors"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// notices lists webhooks that were, or were not, delivered.
func (w *world) notices(delivered bool) []string {
	var names []string
	for _, n := range w.p.notices {
		if delivered == (n.verdict != "") {
			names = append(names, n.name)
		}
	}
	return names
}

func (w *world) notice(name string) *notice {
	return w.p.notices[slices.IndexFunc(w.p.notices, func(n *notice) bool { return n.name == name })]
}

func (w *world) webhook(rt *rapid.T) {
	n := w.notice(pick(rt, "which", w.notices(false)))
	a := w.attempts[n.of.name]
	byItsID := !w.p.blind && !w.p.pages && rapid.Bool().Draw(rt, "names the payment by the provider's id only")
	if byItsID {
		n.event.References = []string{n.of.id}
	}
	rt.Logf("WEBHOOK %q %s", n.name, ifAny("by the provider's id only", byItsID))
	w.deliver(w.service(rt), n)
	if early := n.event.RefundID != "" && n.event.Kind != webhooks.KindRefundFailed && a.gross() == 0; parked(n.verdict) != (early || byItsID && a.ProviderPaymentID == "") {
		rt.Fatalf("the verdict on %q is %s", n.name, n.verdict)
	}
}

// deliver delivers webhooks in one request and checks that each is a duplicate
// exactly if it came before.
func (w *world) deliver(s *service, notices ...*notice) {
	events := make([]webhooks.Event, len(notices))
	for i, n := range notices {
		events[i] = n.event
	}
	verdicts, err := s.Intake(w.ctx, w.received(events...))
	w.must(err)
	w.Logf("    %s", verdicts)
	for i, n := range notices {
		w.acked(n, verdicts[i])
	}
}

func (w *world) acked(n *notice, v fsm.Verdict) {
	if (v == payment.VerdictDuplicate) != (n.verdict != "") {
		w.Fatalf("webhook %q, which came before: %t, is answered %s", n.name, n.verdict != "", v)
	}
	if before := w.attempts[n.of.name]; v == fsm.Applied && n.elsewhere() && holdsMoney(before) && before.Intent.Kind != payment.OperationCancel {
		a, err := w.store.Attempt(w.ctx, before.ID)
		w.must(err)
		if w.standing(a).Intent.Kind == payment.OperationCancel {
			w.Fatalf("%q, of a try in another tab, gives up the money that is held", n.name)
		}
	}
	if n.verdict == "" {
		n.verdict = v
		w.p.applied(n)
	}
}

func (w *world) webhooks(rt *rapid.T) {
	all := append(w.notices(false), w.notices(true)...)
	if len(all) == 0 {
		rt.Skip("there is no news")
	}
	names := rapid.SliceOfN(rapid.SampledFrom(all), 2, 5).Draw(rt, "which")
	notices := make([]*notice, len(names))
	for i, name := range names {
		notices[i] = w.notice(name)
	}
	if rapid.Bool().Draw(rt, "in two requests at once") {
		rt.Logf("WEBHOOKS %q, at both processes at once", names)
		w.deliverAtOnce(notices)
		return
	}
	rt.Logf("WEBHOOKS %q in one request", names)
	w.deliver(w.service(rt), notices...)
}

// deliverAtOnce delivers the same webhooks to both processes: exactly one delivery is not a duplicate.
func (w *world) deliverAtOnce(notices []*notice) {
	var answers [2][]fsm.Verdict
	var errs [2]error
	events := make([]webhooks.Event, len(notices))
	for i, n := range notices {
		events[i] = n.event
	}
	at := func(i int) func() {
		return func() { answers[i], errs[i] = w.services[i].Intake(w.ctx, w.received(events...)) }
	}
	w.start(at(0), at(1))
	w.must(errors.Join(errs[0], errs[1]))
	news := map[*notice][]fsm.Verdict{}
	for i, n := range notices {
		for _, v := range []fsm.Verdict{answers[0][i], answers[1][i]} {
			if v != payment.VerdictDuplicate {
				news[n] = append(news[n], v)
			}
		}
	}
	slices.SortFunc(notices, func(a, b *notice) int { return strings.Compare(a.name, b.name) })
	for _, n := range slices.Compact(notices) {
		if fresh := n.verdict == ""; fresh != (len(news[n]) == 1) || len(news[n]) > 1 {
			w.Fatalf("webhook %q, which came before: %t, is answered at once: %v", n.name, !fresh, news[n])
		} else if fresh {
			n.verdict, n.beside = news[n][0], true
			w.p.applied(n)
		}
	}
}

func (w *world) again(rt *rapid.T) {
	n := w.notice(pick(rt, "which", w.notices(true)))
	if !rapid.Bool().Draw(rt, "with other content") {
		rt.Logf("WEBHOOK %q again", n.name)
		w.deliver(w.service(rt), n)
		return
	}
	other := *n
	other.event.Kind = webhooks.KindDisputed
	rt.Logf("WEBHOOK %q again, with other content", n.name)
	w.deliver(w.service(rt), &other)
	n.changed = true
}
