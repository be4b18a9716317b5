package e2e_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	proveMinutes = flag.Float64("prove-minutes", 0, "how long TestProve attacks; 0 skips it")
	proveRound   = flag.Duration("prove-round", 150*time.Second, "how long TestProve attacks before everything is checked")
	proveSeed    = flag.Uint64("prove-seed", 0, "the seed of TestProve's faults and shoppers; 0 for any")
	proveKeep    = flag.String("prove-keep", "", "the folder of TestProve's history; by default one that is removed unless a check fails")
	proveDefect  = flag.String("prove-planted", "", "a name in testdata/planted, or all: TestPlanted attacks the program with this defect until a check fails")
)

// shoppers pay, and pollers read, at the same time.
const shoppers, pollers = 16, 32

// TestProve attacks the program with faults by a seed, while customers pay, and checks in the end of each round that every answer, every
// charge and every event is explained. `make prove` runs it for ten minutes.
func TestProve(t *testing.T) {
	t.Parallel()
	if *proveMinutes == 0 {
		t.Skip("make prove runs it: it takes a minute and all processors")
	}
	seed := *proveSeed
	for seed == 0 {
		seed = rand.Uint64()
	}
	program, err := buildApart()
	require.NoError(t, err)
	h := newHistory(t, proofDir(t))
	p := newProofUnderLoad(t, h, program, seed, true)
	for end := time.Now().Add(time.Duration(*proveMinutes * float64(time.Minute))); time.Now().Before(end) && len(h.violations()) == 0; {
		p.play(t, seed, min(*proveRound, time.Until(end)))
	}
	p.report(t, seed)
}

// proofDir is the folder of the history, which outlives a run that failed.
func proofDir(t *testing.T) string {
	t.Helper()
	dir := *proveKeep
	if dir == "" {
		var err error
		dir, err = os.MkdirTemp("", "paylatch-prove-") //nolint:usetesting // it outlives a test that fails
		require.NoError(t, err)
		t.Cleanup(func() {
			if !t.Failed() {
				_ = os.RemoveAll(dir)
			}
		})
		return dir
	}
	require.NoError(t, os.MkdirAll(dir, 0o700))
	return dir
}

func newProofUnderLoad(t *testing.T, h *history, program string, seed uint64, standby bool) *proof {
	t.Helper()
	shop := newStockist(t, 1_000_000)
	shop.wrong = func(err error) { h.wrong("endpoint", "%s", err) }
	p := newProof(t, h, program, shop, standby)
	p.courier = &courier{proof: p, dice: rand.New(rand.NewPCG(seed, 1))}
	p.hooks.Break(p.courier.carry)
	t.Cleanup(p.courier.lates.Wait)

	ctx, end := context.WithCancel(t.Context())
	var reading sync.WaitGroup
	for first := range replicas {
		base := new(atomic.Pointer[string])
		base.Store(new(p.fronts[first].base()))
		f := &feedReader{base: base, key: p.tokenKey, seen: map[string]bool{}, versions: map[string]int{}, wrong: func(format string, args ...any) { h.wrong("feed", format, args...) }}
		p.feeds = append(p.feeds, f)
		reading.Go(func() { f.read(ctx, t) })
		reading.Go(func() { // it goes from replica to replica
			for i := first + 1; ctx.Err() == nil; i++ {
				breathe(ctx, 3*time.Second)
				base.Store(new(p.fronts[i%replicas].base()))
			}
		})
	}
	t.Cleanup(reading.Wait)
	t.Cleanup(end)
	return p
}

// play is one round: shoppers and faults together, then the faults end, then all is checked.
func (p *proof) play(t *testing.T, seed uint64, lasts time.Duration) {
	t.Helper()
	p.round++
	p.follow(t)
	p.courier.quiet.Store(false)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var all sync.WaitGroup
	for i := range shoppers + pollers {
		s := &shopper{proof: p, number: i, user: fmt.Sprintf("shopper-%d", i), dice: rand.New(rand.NewPCG(seed, uint64(1000*p.round+i)))}
		if i < shoppers {
			all.Go(func() { s.shop(ctx) })
		} else {
			all.Go(func() { s.poll(ctx) })
		}
	}
	all.Go(func() { p.courier.sendOld(ctx, rand.New(rand.NewPCG(seed, uint64(500+p.round)))) })
	p.attack(t, rand.New(rand.NewPCG(seed, uint64(p.round))), time.Now().Add(lasts))
	p.mend(t)
	end()
	all.Wait()
	p.checkCalls(t)
	if !p.caught() {
		p.settle(t)
		p.check(t)
	}
	p.history.settle()
	t.Logf("after %s: round %d, %d faults, %d requests, %d orders, %d violations", time.Since(p.history.begun).Round(time.Second), p.round,
		p.history.counted("fault"), p.history.sent.Load(), p.history.counted("orders"), len(p.history.violations()))
}

// mend waits until every replica serves again, and has the provider send at once what it has not delivered.
func (p *proof) mend(t *testing.T) {
	t.Helper()
	p.courier.quiet.Store(true)
	p.supervise(t, func(string) bool { return false })
	for i := range p.fronts {
		eventually(t, "a replica that is ready", func() bool {
			p.supervise(t, func(string) bool { return false })
			ctx, cancel := context.WithTimeout(t.Context(), patient)
			defer cancel()
			return client{base: p.fronts[i].base(), blunt: true}.send(ctx, http.MethodGet, "/readyz", "").status == http.StatusOK
		})
	}
	p.hangUp(t) // a SIGHUP may have come while PostgreSQL was away
	p.box.kill()
	p.startBox()
	p.box.says(t, "sandbox listens")
	p.db.Reset()
}

// settle waits until each attempt has ended or is a case. Customers come back meanwhile: they send their pays again. A crash of PostgreSQL
// empties the sealed requests. A charge that was under way is then looked up, and not sent again, until its resend window of ten minutes
// ends; it may stay pending.
func (p *proof) settle(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	pressed := p.pressed
	p.pressed, p.recent = nil, nil // the history of the next round begins without them
	p.mu.Unlock()
	keys := map[string]press{}
	for _, of := range pressed {
		p.oddOrders[of.order] = p.oddOrders[of.order] || strings.Contains(of.body, "tok_late_success") || strings.Contains(of.body, "tok_wrong_amount")
		keys[of.order+" "+of.key] = of
	}
	for i, end := 0, time.Now().Add(p.patience); ; i++ {
		left := column[string](t, p.rig, `
			SELECT concat_ws(' ', a.order_id, a.client_request_id, a.attempt_id, a.stage, o.kind, o.number, o.state, o.tries)
			FROM payment_attempts a LEFT JOIN operations o ON o.attempt_id = a.attempt_id AND o.open
			WHERE (a.status = 'pending' OR o.refund_id IS NOT NULL OR o.state <> 'accepted')
				AND NOT EXISTS (SELECT FROM discrepancies d WHERE d.attempt_id = a.attempt_id)
				AND NOT (o.kind = 'charge' AND o.state = 'unknown' AND NOT EXISTS (SELECT FROM sealed_requests s WHERE s.attempt_id = a.attempt_id))
			UNION ALL SELECT concat_ws(' ', order_id, 'refund', refund_id) FROM refunds WHERE status = 'pending'`)
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			p.history.wrong("ends", "%d attempts have no end: %s", len(left), strings.Join(left[:min(5, len(left))], "; "))
			return
		}
		for _, line := range left {
			parts := strings.Fields(line)
			if of, ok := keys[parts[0]+" "+parts[1]]; ok && i%10 == 0 {
				ctx, cancel := context.WithTimeout(t.Context(), patient)
				p.again(ctx, of, i/10%replicas)
				cancel()
			}
		}
		breathe(t.Context(), 200*time.Millisecond)
	}
}

// caught tells whether a run that ends at the first violation has one.
func (p *proof) caught() bool { return p.first && len(p.history.violations()) > 0 }

// checkCalls runs the checks that need no rest: those of the answers, and of what was acknowledged.
func (p *proof) checkCalls(t *testing.T) {
	t.Helper()
	p.history.mu.Lock()
	p.history.counts["orders"] += len(p.history.orders)
	p.history.mu.Unlock()
	p.history.linearizable()
	for _, text := range firstFive(p.lostWebhooks(t)) {
		p.history.wrong("webhooks", "%s", text)
	}
}

func firstFive(all []string) []string { return all[:min(5, len(all))] }

// check runs the checks of the end, those first that need not wait. The webhooks of the last actions, and their events, may still be on
// their way.
func (p *proof) check(t *testing.T) {
	t.Helper()
	p.checkRows(t)
	if p.caught() {
		return
	}
	waiting := map[string]func() []string{
		"ledger":   func() []string { return p.disagreements(t, p.ofThisRound) },
		"webhooks": func() []string { return p.lostWebhooks(t) },
		"feed": func() (all []string) {
			for _, f := range p.feeds {
				all = append(all, p.untold(t, "a reader of the feed", f.seenIDs())...)
			}
			return all
		},
		"endpoint": func() []string { return p.untold(t, "the endpoint", p.shop.seenIDs()) },
	}
	last := map[string][]string{}
	for end := time.Now().Add(p.patience); time.Now().Before(end) && len(waiting) > 0; breathe(t.Context(), 300*time.Millisecond) {
		for name, differences := range waiting {
			if last[name] = differences(); len(last[name]) == 0 {
				delete(waiting, name)
			}
		}
	}
	for name := range waiting {
		for _, text := range firstFive(last[name]) {
			p.history.wrong(name, "%s", text)
		}
	}
}

// checkRows runs the checks of the rows that no later action mends.
func (p *proof) checkRows(t *testing.T) {
	t.Helper()
	for name, query := range map[string]string{
		"final": `SELECT concat_ws(' ', order_id, attempt_id, from_stage, 'became', to_stage) FROM attempt_transitions
			WHERE from_stage IN ('succeeded', 'failed') AND to_stage <> from_stage`,
		"versions": `SELECT concat_ws(' ', attempt_id, 'has gaps:', array_agg(version ORDER BY version)) FROM attempt_transitions
			GROUP BY attempt_id HAVING count(*) <> max(version)`,
		"one attempt": `SELECT concat_ws(' ', order_id, client_request_id, 'has several attempts') FROM payment_attempts
			GROUP BY order_id, client_request_id HAVING count(*) > 1`,
		"one end": `SELECT concat_ws(' ', subject, type, count(*)) FROM (SELECT coalesce(attempt_id::text, order_id) || CASE WHEN type LIKE 'order.%' THEN order_id ELSE '' END subject, type FROM outbox
			WHERE type IN ('payment_attempt.succeeded', 'payment_attempt.failed', 'order.paid')) x GROUP BY subject, type HAVING count(*) > 1`,
		"events": `SELECT concat_ws(' ', a.order_id, a.attempt_id, a.status, 'and no event tells it') FROM payment_attempts a WHERE a.status <> 'pending'
			AND NOT EXISTS (SELECT FROM outbox e WHERE e.attempt_id = a.attempt_id AND e.type = 'payment_attempt.' || a.status)
			UNION ALL SELECT concat_ws(' ', a.order_id, 'is paid, and no event tells it') FROM payment_attempts a WHERE a.status = 'succeeded'
			AND NOT EXISTS (SELECT FROM outbox e WHERE e.order_id = a.order_id AND e.type = 'order.paid')`,
		// Nobody refunds in the provider's dashboard.
		"refunds": `SELECT concat_ws(' ', attempt_id, 'has a refund that nobody requested:', amount) FROM refunds WHERE origin = 'provider'`,
	} {
		for _, text := range column[string](t, p.rig, query) {
			p.history.wrong(name, "%s", text)
		}
	}
	p.cases(t)
	if out, err := p.verify(t); err != nil {
		p.history.wrong("verify", "%s", tail(out))
	}
}

// cases checks that money is a case only where the provider made it one: it charged late, or another amount, or a bank took money back.
func (p *proof) cases(t *testing.T) {
	t.Helper()
	for _, line := range column[string](t, p.rig, `SELECT concat_ws(' ', d.order_id, d.kind, d.about) FROM discrepancies d
		WHERE d.kind IN ('late_success', 'double_success', 'paid_after_cancel', 'amount_mismatch', 'currency_mismatch', 'refund_exceeds', 'payment_reversed', 'refund_reversed')
			OR d.about IN ('paid_after_failed_refund', 'refund_unattributed', 'shared_reference', 'event_not_applied')`) {
		order, kind, _ := strings.Cut(line, " ")
		p.mu.Lock()
		reversed := p.disputed[order] && strings.HasPrefix(kind, "payment_reversed")
		p.mu.Unlock()
		if !p.oddOrders[order] && !reversed {
			p.history.wrong("cases", "%s is a case that nothing explains: %s", order, kind)
		}
	}
}

// ofThisRound tells whether to look for the holds of an order.
func (p *proof) ofThisRound(order string) (string, bool) {
	return order, strings.Contains(order, fmt.Sprintf("-%d-", p.round))
}

// lostWebhooks are acknowledged events that are not stored, or not once.
func (p *proof) lostWebhooks(t *testing.T) (all []string) {
	t.Helper()
	acknowledged, stored := p.hooks.acknowledged(), map[string]int{}
	for _, id := range column[string](t, p.rig, `SELECT provider_event_id FROM provider_events`) {
		stored[id]++
	}
	for _, id := range acknowledged {
		if stored[id] != 1 {
			all = append(all, fmt.Sprintf("event %s was acknowledged and is stored %d times", id, stored[id]))
		}
	}
	return all
}

// untold are events that a reader has not got.
func (p *proof) untold(t *testing.T, who string, got map[string]bool) (all []string) {
	t.Helper()
	for _, id := range column[string](t, p.rig, `SELECT message_id::text FROM outbox`) {
		if !got[id] {
			all = append(all, fmt.Sprintf("event %s did not reach %s", id, who))
		}
	}
	return all
}

// seenIDs are the events that a delivery had.
func (s *stockist) seenIDs() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]bool{}
	for id := range s.bodies {
		all[id] = true
	}
	return all
}

// report prints the figures, and fails for violations.
func (p *proof) report(t *testing.T, seed uint64) {
	t.Helper()
	h := p.history
	figures := map[string]any{
		"seed": seed, "seconds": int(time.Since(h.begun).Seconds()), "requests": h.sent.Load(), "faults": h.counted("fault"), "orders": h.counted("orders"),
		"webhooks": h.counted("webhook"), "events": len(p.feeds[0].seenIDs()), "charges": len(p.movements(t)), "undecided": h.counted("undecided"), "violations": len(h.violations()),
	}
	figures["kinds"] = h.kinds()
	figures["kills"] = map[string]int{"paylatch": h.counted("fault: " + killedReplica), "PostgreSQL": h.counted("fault: " + killedPostgres)}
	text, err := json.MarshalIndent(figures, "", "  ")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "figures.json"), text, 0o600))
	for _, m := range p.movements(t) {
		h.note("ledger", m.Reference, "%s %d %s %s", m.Kind, m.Amount, m.Currency, m.IdempotencyKey)
	}
	for _, line := range column[string](t, p.rig, `SELECT concat_ws(' ', subject, type, version, message_id) FROM outbox ORDER BY batch, nth`) {
		subject, rest, _ := strings.Cut(line, " ")
		h.note("event", subject, "%s", rest)
	}
	h.settle()
	t.Logf("%s", text)
	t.Logf("%s", h.table())
	checks := map[string]bool{}
	for _, v := range h.violations() {
		checks[v.check] = true
		t.Errorf("violation of %q after %s: %s", v.check, v.after.Round(time.Second), v.text)
	}
	if len(checks) > 0 {
		t.Errorf("failed checks: %v; the history is in %s; the same faults again: make prove SEED=%d", slices.Sorted(maps.Keys(checks)), h.dir, seed)
	}
}
