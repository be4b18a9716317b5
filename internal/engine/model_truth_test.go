package engine_test

import (
	"cmp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// look reads everything and checks the invariants.
func (w *world) look() {
	orders, err := w.store.Orders(w.ctx, w.orders())
	w.must(err)
	for _, letter := range both {
		live := 0
		for _, a := range orders[w.order(letter)].Attempts {
			if !a.Failed() {
				live++
			}
			w.priced(orders[w.order(letter)], a)
			w.saw(letter+strings.TrimPrefix(string(a.RequestID), "request-"), w.standing(a))
		}
		if live > 1 {
			w.Fatalf("%d attempts of order %s are pending or paid", live, letter)
		}
		for _, v := range orders[w.order(letter)].Views() {
			if v.CanStartNew != (v.Failed() && w.expects(letter, "of anybody else") == anAttempt) {
				w.Fatalf("order %s may be paid anew: %t", letter, v.CanStartNew)
			}
		}
	}
	w.read()
	w.repaid()
	w.twice()
	w.inbox()
	w.charges()
	for _, name := range w.names() {
		w.believes(name)
	}
}

// known is an attempt as it is stored here.
type known struct {
	attempt

	// Foreign is the amount captured in dollars, ForeignReturned the amount of it that was returned.
	Foreign, ForeignReturned int64
}

// gross is the captured amount, reversed or not.
func (a known) gross() int64 { return a.Captured + a.Reversed }

// standing reads the other stored data of an attempt.
func (w *world) standing(a payment.Attempt) known {
	ops, err := readOps(w.ctx, w.db, a)
	w.must(err)
	k := known{attempt: attempt{a, ops}}
	w.must(w.db.QueryRow(w.ctx, `SELECT coalesce(sum(amount) FILTER (WHERE kind = 'capture'), 0)::bigint, coalesce(sum(amount) FILTER (WHERE kind = 'refund'), 0)::bigint
		FROM money_movements WHERE attempt_id = $1 AND currency = 'USD'`, a.ID.String()).Scan(&k.Foreign, &k.ForeignReturned))
	return k
}

// saw compares an attempt with its state before.
func (w *world) saw(name string, a known) {
	was, before := w.attempts[name]
	w.attempts[name] = a
	for _, held := range []*press{w.heldCommands[name], w.heldCommands[commandOf(name)]} {
		if held != nil && held.leased == (payment.OperationName{}) {
			held.leased = a.Leased
		}
	}
	if !before {
		return
	}
	switch {
	case was.ID != a.ID:
		w.Fatalf("%s is another attempt than before", name)
	case was.State.Final() && was.State != a.State:
		w.Fatalf("%s was %s and is %s now", name, was.State, a.State)
	case a.Version < was.Version:
		w.Fatalf("the version of %s fell from %d to %d", name, was.Version, a.Version)
	case a.Version == was.Version && a.Facts() != was.Facts():
		w.Fatalf("%s changed and its version did not", name)
	case a.gross() < was.gross() || a.Reversed < was.Reversed || a.Refunded < was.Refunded && !w.p.of(name).undone:
		w.Fatalf("%s forgot money", name)
	}
	if i := was.Intent; i.Amount > 0 && a.Succeeded() && a.gross() != i.Amount && !w.declined(name) {
		w.p.of(name).odd = true
	}
}

// declined reports whether a webhook has reported that a capture was refused after it was
// accepted: that ends it before anything else that comes with it.
func (w *world) declined(name string) bool {
	return slices.ContainsFunc(w.p.notices, func(n *notice) bool {
		return n.of.name == name && n.event.Refuses == webhooks.CommandCapture && n.verdict != ""
	})
}

// read reads the inbox and the discrepancies.
func (w *world) read() {
	found, err := w.db.Query(w.ctx, `SELECT 'event', provider_event_id, verdict, '', '', '', '' FROM provider_events WHERE account = $3 AND provider_event_id = ANY($2)
		UNION ALL SELECT kind, coalesce(attempt_id::text, ''), '', coalesce(provider_event_id, ''), about, about_id,
			CASE WHEN resolved_at IS NULL THEN discrepancy_id::text ELSE '' END FROM discrepancies
		WHERE order_id = ANY($1) OR provider_event_id = ANY($2)`, w.orders(), w.ids(), w.account)
	w.must(err)
	type row struct{ What, ID, Verdict, Event, About, AboutID, Open string }
	all, err := pgx.CollectRows(found, pgx.RowToStructByPos[row])
	w.must(err)
	w.verdicts, w.opened = map[string]fsm.Verdict{}, nil
	for _, r := range all {
		if r.What == "event" {
			w.verdicts[r.ID] = fsm.Verdict(r.Verdict)
		} else {
			w.opened = append(w.opened, opened{r.What, r.ID, r.Event, r.About, r.AboutID, r.Open})
		}
	}
}

// inbox requires each acknowledged event to be stored with its verdict. Only a parked event may get another verdict.
// Other content under the same id must have a discrepancy.
func (w *world) inbox() {
	for _, n := range w.p.notices {
		got, there := w.verdicts[n.event.ID]
		if there != (n.verdict != "") {
			w.Fatalf("webhook %q was acknowledged: %t, is stored: %t", n.name, n.verdict != "", there)
		}
		if got != n.verdict && !parked(n.verdict) {
			w.Fatalf("the verdict on %q was %s and is %s now", n.name, n.verdict, got)
		}
		n.verdict = got
		told := slices.ContainsFunc(w.opened, func(o opened) bool { return o.Kind == "event_changed" && o.Event == n.event.ID })
		if told != n.changed {
			w.Fatalf("webhook %q came with other content: %t, a person is told: %t", n.name, n.changed, told)
		}
		if a := w.attempts[n.of.name]; n.verdict == payment.VerdictUnmatched && !n.beside && a.Knows(n.of.id) {
			w.Fatalf("webhook %q waits, and its attempt is known by now", n.name)
		}
	}
}

func parked(v fsm.Verdict) bool { return v == payment.VerdictUnmatched || v == payment.VerdictDeferred }

func (w *world) ids() []string {
	var ids []string
	for _, n := range w.p.notices {
		ids = append(ids, n.event.ID)
	}
	return ids
}

var lateMoney = []payment.DiscrepancyKind{payment.LateSuccess, payment.DoubleSuccess, payment.PaidAfterCancel}

// reviewed reports whether an attempt has a discrepancy of one of these kinds.
func (w *world) reviewed(a known, kinds ...payment.DiscrepancyKind) bool {
	return slices.ContainsFunc(kinds, func(k payment.DiscrepancyKind) bool {
		return slices.ContainsFunc(w.opened, func(o opened) bool { return o.Kind == string(k) && o.Attempt == a.ID.String() })
	})
}

// unreleased reports whether there is a discrepancy of a hold that is not released.
func (w *world) unreleased(a known) bool {
	return slices.ContainsFunc(w.opened, func(o opened) bool { return o.Attempt == a.ID.String() && o.About == payment.AboutHoldNotReleased })
}

// believes checks an attempt against the truth: its record may be incomplete, but not different.
func (w *world) believes(name string) {
	a, d := w.attempts[name], w.p.of(name)
	if d == nil {
		d = &deal{}
	}
	known := slices.ContainsFunc(w.p.notices, func(n *notice) bool {
		return n.of == d && n.event.Kind == webhooks.KindSucceeded && !n.inDollars() && n.verdict != "" && !parked(n.verdict)
	})
	d.kept = d.kept || d.held && w.unreleased(a)
	w.quarrelled(name, a, d)
	switch {
	case (a.Succeeded() || a.gross() > 0) && !d.charged():
		w.Fatalf("%s is %s, and the customer was not charged", name, describe(a.Attempt))
	case a.gross() > 0 && a.gross() != d.taken && a.gross() != d.taken+d.twice():
		w.Fatalf("%s took %d instead of %d", name, a.gross(), d.taken)
	case a.Failed() && !d.over && d.attempt == a.ID:
		w.Fatalf("%s is failed, and the provider never said so", name)
	case known && a.gross() == 0:
		w.Fatalf("the webhook that %s was paid is lost", name)
	case a.Failed() && a.gross() > 0 && !w.reviewed(a, lateMoney...):
		w.Fatalf("%s failed and holds money, and nobody is told", name)
	case w.reviewed(a, lateMoney...) && !d.charged(), w.reviewed(a, payment.PaymentReversed) && !d.reversed && len(d.disputes) == 0:
		w.Fatalf("a person is told of money of %s that never moved", name)
	case d.odd && !w.reviewed(a, payment.AmountMismatch):
		w.Fatalf("%s took another amount than was confirmed, and nobody is told", name)
	case w.reviewed(a, payment.AmountMismatch) && (d.taken == cmp.Or(a.Capturing(), d.price) && d.taken == cmp.Or(d.confirmed, d.price) || !d.charged()):
		w.Fatalf("a person is told that %s took another amount than was confirmed", name)
	case w.reviewed(a, payment.CurrencyMismatch) != (a.Foreign > 0), a.Foreign > d.dollars:
		w.Fatalf("%s took %d cents, %d cents were told of, and a person is told: %t", name, a.Foreign, d.dollars, w.reviewed(a, payment.CurrencyMismatch))
	case a.ForeignMoney != (a.Foreign > a.ForeignReturned):
		w.Fatalf("%s took %d cents, of which %d are back, and says that it holds some: %t", name, a.Foreign, a.ForeignReturned, a.ForeignMoney)
	case w.reviewed(a, payment.Disputed), w.reviewed(a, payment.RefundReversed, payment.RefundExceeds) && !d.undone: // an event of a further refund may come first
		w.Fatalf("a person is told of %s what nobody said", name)
	case !d.kept && w.unreleased(a):
		w.Fatalf("a person is told that a hold of %s can't be given up, and nothing is held", name)
	case a.Reversed > 0 && !d.reversed:
		w.Fatalf("%s says that money was taken back that was not", name)
	case a.Refunded > d.returned:
		w.Fatalf("%s says that %d were paid back, and it was %d", name, a.Refunded, d.returned)
	case d.back > d.taken+d.twice():
		w.Fatalf("%s: %d were paid back of %d", name, d.back, d.taken+d.twice())
	case d.wrong != "":
		w.Fatalf("%s %s", name, d.wrong)
	}
}

// charges requires that a payment is begun once at the provider, and that no order is charged
// twice, unless the provider had reported that the first payment was over.
func (w *world) charges() {
	begun, plain := map[string]bool{}, map[string]bool{}
	for _, d := range w.p.deals {
		if begun[d.name] {
			w.Fatalf("the provider was asked for two payments of %s", d.name)
		}
		begun[d.name] = true
		if letter := d.name[:1]; (d.charged() || d.held) && !d.over {
			if plain[letter] {
				w.Fatalf("the customer was charged twice for order %s", letter)
			}
			plain[letter] = true
		}
	}
	for _, letter := range both {
		w.doubles(letter)
	}
	if len(w.p.unwanted) > 0 {
		w.Fatalf("%s, and its order is cancelled or holds money of another attempt", w.p.unwanted[0])
	}
}

// doubles requires a discrepancy of two attempts that hold money.
func (w *world) doubles(letter string) {
	var holding []known
	paid := false
	for _, a := range w.of(letter) {
		paid = paid || a.Succeeded()
		if a.Held() > 0 {
			holding = append(holding, a)
		}
	}
	told := slices.ContainsFunc(holding, func(a known) bool { return w.reviewed(a, payment.DoubleSuccess) })
	if paid && len(holding) > 1 && !told {
		w.Fatalf("two attempts of order %s hold money, and nobody is told of a double success", letter)
	}
}
