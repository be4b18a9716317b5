package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// cells are each way to pay with each second press, and with nothing, a cancel, or a refund beside it. Held payments have a
// capture in place of the refund.
func (p *party) cells(w wave) []cell {
	var all []cell
	for token := range p.methods {
		capture, last := "automatic", "refunds"
		if w.manual && p.holds && token == "redirect" {
			capture, last = "manual", "confirm"
		}
		for _, press := range []string{"once", "the same again", "anew"} {
			for _, command := range []string{"", "cancel", last} {
				all = append(all, cell{token, capture, press, command, unique("o")})
				if command != "" {
					all = append(all, cell{token, capture, press, command, unique(calm)})
				}
			}
		}
	}
	return all
}

// cancels are cells of orders that are cancelled, enough for each misbehaviour of a cancel.
func (p *party) cancels(w wave) (all []cell) {
	for range 5 {
		all = append(all, slices.DeleteFunc(p.cells(w), func(c cell) bool { return c.command != "cancel" || !strings.HasPrefix(c.order, calm) })...)
	}
	return all
}

// lack are the commands that have not yet misbehaved in all ways.
func (g *gatewayGrid) lack() []string {
	counts := g.turns.counts()
	return slices.DeleteFunc(slices.Clone(g.party.commands), func(command string) bool { return counts[command] >= len(misbehaviours()) })
}

// completes lets no runner die any more, and pays and cancels until each command has misbehaved in all ways: how many of them
// the waves brought depends on the machine.
func (g *gatewayGrid) completes(t *testing.T) {
	t.Helper()
	end := time.Now().Add(3 * patience)
	for lack := g.lack(); len(lack) > 0; lack = g.lack() {
		require.True(t, time.Now().Before(end), "misbehaviours of %v: %v", lack, g.turns.counts())
		cells := g.party.cells
		if slices.Contains(lack, "cancel") {
			g.away.Store(true)
			cells = g.party.cancels
		}
		var all sync.WaitGroup
		for _, c := range cells(wave{at: nowhere}) {
			g.cells = append(g.cells, c)
			all.Go(func() { g.run(t.Context(), c) })
		}
		all.Wait()
		g.away.Store(false)
	}
}

// TestTheGridAtGateways pays at a provider without idempotency keys and at one with them, through the whole program: each
// command misbehaves in all ways in turn, while the program is killed with commands on their way there, lost, on their way
// back, and wherever they are, and is frozen once until others have taken over. Each misbehaviour comes for each way to
// charge, for a cancel and for a refund; with which of the places it meets is left to the turns. A charge without a key of
// which the outcome is unknown may stay pending, as long as the provider's books don't have it as paid.
func TestTheGridAtGateways(t *testing.T) {
	t.Parallel()
	for _, p := range []*party{gridComgate(), gridGoCardless()} {
		t.Run(p.kind, func(t *testing.T) {
			t.Parallel()
			g := newGatewayGrid(t, p)
			ctx, cancel := context.WithCancel(t.Context())
			var lives sync.WaitGroup
			defer lives.Wait()
			defer cancel()
			base := ""
			g.base.Store(&base)
			lives.Go(func() { g.lives(ctx) })
			s := g.plays(t, g.up(), []wave{{onTheWay, false, false}, {lost, false, true}, {onTheBack, false, false}, {onTheBack, true, true}}, p.cells)
			g.away.Store(true) // so that the payments of the next wave can be cancelled
			g.plays(t, s, []wave{{nowhere, false, false}}, p.cancels)
			g.away.Store(false)
			g.completes(t)
			g.inTheEnd(t, func() []string { return g.unfit(t) })
			g.verifies(t)
			t.Logf("commands: %v", g.turns.counts())
		})
	}
}

// returned is a refund in the database.
type returned struct {
	ID      string `json:"id"`
	Attempt string `json:"attempt"`
	Status  string `json:"status"`
	Amount  int64  `json:"amount"`
}

// unfit holds the provider's books against the database.
func (g *gatewayGrid) unfit(t *testing.T) (all []string) {
	t.Helper()
	says := func(ok bool, format string, args ...any) {
		if !ok {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	books := map[string][]booked{}
	for _, b := range g.party.books() {
		books[b.attempt] = append(books[b.attempt], b)
	}
	refunds := column[returned](t, g.rig, `SELECT json_build_object('id', refund_id, 'attempt', attempt_id, 'status', status, 'amount', amount) FROM refunds`)
	paid := map[string]int{}
	for _, a := range g.outcomes(t) {
		var taken, back int64
		of := books[a.ID]
		delete(books, a.ID)
		for _, b := range of {
			taken += b.taken
			for id, amounts := range b.refunds {
				says(len(amounts) == 1, "refunded twice: %s of %+v: %v", id, a, amounts)
				at := slices.IndexFunc(refunds, func(r returned) bool { return r.ID == id && r.Attempt == a.ID })
				says(at >= 0 && (refunds[at].Status != "failed" || a.Discrepancies != ""), "refunded, and not known: %s of %+v", id, a)
				back += amounts[0]
			}
		}
		at := slices.IndexFunc(g.cells, func(c cell) bool { return c.order == a.Order })
		what := fmt.Sprintf("%+v: %+v: %+v", g.cells[at], a, of)
		says(len(of) <= 1, "charged twice: %s", what)
		says(taken == a.Captured, "not the amount of the books: %s", what)
		says(back == a.Refunded || back > a.Refunded && !g.party.ends, "not the refunds of the books: %s", what)
		says(a.Status != "pending" || taken == 0 && (!g.party.ends || g.cells[at].command == "cancel"), "pending: %s", what)
		if a.Discrepancies == "" {
			says((a.Status == "succeeded") == (taken > 0), "paid, or not: %s", what)
		}
		if taken > back {
			paid[a.Order]++
		}
	}
	for order, n := range paid {
		says(n <= 1, "one order, paid twice: %s", order)
	}
	says(len(books) == 0, "payments of no attempt: %v", books)
	waiting := column[string](t, g.rig, `SELECT concat_ws(' ', 'event', provider_event_id, event_type, verdict) FROM provider_events WHERE next_try_at IS NOT NULL`)
	says(len(waiting) == 0, "%s", strings.Join(waiting, "\n"))
	return all
}
