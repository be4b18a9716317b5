package engine_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// The accounts of the model, at one provider. The second refunds late money by itself.
const (
	plain    = "sandbox"
	repaying = "repaying"
)

// received are events as they come in for the world's account.
func (w *world) received(events ...webhooks.Event) []payment.ReceivedEvent {
	all := received([]byte("{}"), events...)
	for i := range all {
		all[i].Account = w.account
	}
	return all
}

// repaid requires that the policy refunds all late money, and the money of a second payment, once, and no other money.
func (w *world) repaid() {
	if w.account != repaying {
		return
	}
	found, err := w.db.Query(w.ctx, "SELECT refund_id::text, attempt_id::text FROM refunds WHERE order_id = ANY($1) AND origin = 'policy'", w.orders())
	w.must(err)
	made, err := pgx.CollectRows(found, pgx.RowToStructByPos[struct{ ID, Attempt string }])
	w.must(err)
	times := map[string]int{}
	for _, r := range made {
		times[r.Attempt]++
		id, err := payment.ParseRefundID(r.ID)
		w.must(err)
		w.track(id, w.those(func(a known) bool { return a.ID.String() == r.Attempt })[0])
	}
	for name, a := range w.attempts {
		d := w.p.of(name)
		switch n, late := times[a.ID.String()], a.Failed() && a.gross() > 0 || d != nil && d.secondTold(); {
		case n > 1 || n == 1 && !late:
			w.Fatalf("the policy pays %s back %d times, which is %s", name, n, describe(a.Attempt))
		case n == 0 && (a.Failed() && late || d != nil && d.bothTold()) && a.Held() == a.gross():
			w.Fatalf("the late money of %s is not paid back", name)
		}
	}
}

// track adds a refund to the rechecked refunds.
func (w *world) track(id payment.RefundID, of string) {
	if !slices.ContainsFunc(w.refunds, func(one *asked) bool { return one.id == id }) {
		w.refunds = append(w.refunds, &asked{id: id, of: of})
	}
}

// recheckRefund lets one process, or both at once, send a refund or look it up.
func (w *world) recheckRefund(rt *rapid.T) {
	can := map[string]*asked{}
	for i, one := range w.refunds {
		if w.pends(one) {
			can[fmt.Sprintf("%s's refund %d", one.of, i)] = one
		}
	}
	what := pick(rt, "refund", slices.Sorted(maps.Keys(can)))
	rt.Logf("ASK about %s, at both processes at once", what)
	var errs [2]error
	ask := func(i int) func() {
		return func() { _, errs[i] = w.services[i].RecheckRefund(w.ctx, can[what].id, byTest) }
	}
	w.start(ask(0), ask(1))
	for _, err := range errs {
		if !errors.Is(err, payment.ErrBusy) {
			w.must(err)
		}
	}
}
