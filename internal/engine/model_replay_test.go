package engine_test

import (
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// replay lets staff have a webhook applied again. A dry replay changes nothing, and no
// other does anything anew that was applied before.
func (w *world) replay(rt *rapid.T) {
	n := w.notice(pick(rt, "which", w.notices(true)))
	dry := rapid.Bool().Draw(rt, "only to see what it would do")
	rt.Logf("REPLAY %q %s", n.name, ifAny("dry", dry))
	was, before := n.verdict, w.versions()
	// A failure that arrived before its hold may end the hold now, or name the hold that was released before.
	releases := n.event.Kind == webhooks.KindFailed && (w.p.pages || w.attempts[n.of.name].OnHold() > 0)
	done, err := w.service(rt).Replay(w.ctx, intake.Replay{ID: w.stored(n), Dry: dry})
	w.must(err)
	rt.Logf("    %s, opens %v", done.Verdict, done.Opened)
	opened := len(w.opened)
	if !dry && (releases || n.event.Kind == webhooks.KindSoftFailed) { // that is cancelled anew
		n.verdict = done.Event.Verdict
	}
	w.look()
	switch {
	case releases && (!dry || w.versions() == before):
	case (dry || !parked(was)) && w.versions() != before:
		w.Fatalf("a replay of %q changed an attempt", n.name)
	case (dry || !parked(was)) && len(w.opened) != opened:
		w.Fatalf("a replay of %q opened a discrepancy", n.name)
	case !parked(was) && done.Changed():
		w.Fatalf("a replay of %q is said to have changed its attempt", n.name)
	case !parked(was) && done.Verdict == fsm.Applied && n.event.Kind != webhooks.KindSoftFailed:
		w.Fatalf("%q was %s, and is applied once more", n.name, was)
	}
}

// stored is the id under which a webhook was stored.
func (w *world) stored(n *notice) payment.EventID {
	found, err := w.db.Query(w.ctx, "SELECT event_id::text FROM provider_events WHERE account = $1 AND provider_event_id = $2", w.account, n.event.ID)
	w.must(err)
	id, err := pgx.CollectExactlyOneRow(found, pgx.RowTo[string])
	w.must(err)
	event, err := payment.ParseEventID(id)
	w.must(err)
	return event
}

// versions adds up how often anything of the attempts has changed.
func (w *world) versions() (all int) {
	for _, a := range w.attempts {
		all += a.Version
	}
	return all
}
