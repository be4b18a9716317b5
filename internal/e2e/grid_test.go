package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cell is one combination: what is paid with, what the customer does beside it,
// and what is done to the attempt.
type cell struct {
	token, capture, press, command string
	order                          string
}

// wave is when and how the runner dies.
type wave struct {
	at     place
	freeze bool
	manual bool
}

func tokens() []string {
	return []string{
		"tok_success", "tok_decline", "tok_async_success", "tok_async_decline", "tok_redirect", "tok_webhook_first", "tok_twice", "tok_disorder",
		"tok_hang_charged", "tok_hang_not_charged", "tok_500_charged", "tok_500_once", "tok_never", "tok_late_success", "tok_wrong_amount",
	}
}

// waves are every place and both ways to die; a longer form has them more often.
func waves() []wave {
	rounds, _ := strconv.Atoi(os.Getenv("PAYLATCH_GRID_ROUNDS"))
	var all []wave
	for i := range max(1, rounds) {
		for j, at := range []place{onTheWay, lost, onTheBack, nowhere} {
			for k, freeze := range []bool{false, true} {
				all = append(all, wave{at, freeze, (i+j+k)%2 == 1})
			}
		}
	}
	return all
}

func (w wave) cells() []cell {
	var all []cell
	capture, done := "automatic", []string{"", "cancel", "refunds"}
	if w.manual {
		capture, done = "manual", []string{"", "cancel", "confirm"}
	}
	for _, token := range tokens() {
		for _, press := range []string{"once", "the same again", "anew"} {
			for _, command := range done {
				all = append(all, cell{token, capture, press, command, unique("o")})
			}
		}
	}
	return all
}

// grid is a rig with everything that a wave needs.
type grid struct {
	*rig
	turnstile *turnstile
	base      atomic.Pointer[string]
	cells     []cell
}

// short lets the schedule and the expiry pass within seconds.
func (g *grid) short() []string {
	accounts, err := json.Marshal([]map[string]any{{
		"name": "sandbox", "kind": "sandbox", "base_url": g.turnstile.URL, "webhook_secrets": []string{sandboxSecret},
		"expiry":  map[string]string{"awaiting_customer": "6s", "authorized": "6s", "slow": "6s"},
		"breaker": map[string]int{"failures": 0},
	}})
	require.NoError(g.t, err)
	return []string{
		"PAYLATCH_ACCOUNTS=" + string(accounts), "PAYLATCH_IDEMPOTENCY_LEASE=1500ms", "PAYLATCH_PROVIDER_TIMEOUT=1s",
		"PAYLATCH_IDEMPOTENCY_WAIT=1s", "PAYLATCH_RECONCILE_AFTER=200ms", "PAYLATCH_RECONCILE_EVERY=50ms",
	}
}

func (g *grid) up() *service {
	s := g.serve(g.short()...)
	g.base.Store(&s.base)
	return s
}

// press sends a command to whoever serves, again and again with its own key until
// it is answered; with little patience, once.
func (g *grid) press(ctx context.Context, patient bool, do func(ctx context.Context, c client) answer) answer {
	end := time.Now().Add(soon)
	for {
		try, cancel := context.WithTimeout(ctx, 2500*time.Millisecond)
		a := do(try, client{base: *g.base.Load(), token: token("u1", "customer"), blunt: true})
		cancel()
		again := a.err != nil || a.status >= http.StatusInternalServerError || a.peekProblem().Code == "request-in-progress"
		if !again || !patient || ctx.Err() != nil {
			return a
		}
		if time.Now().After(end) {
			g.t.Errorf("no answer in %s, the last one was: %d %s %v", soon, a.status, a.text, a.err)
			return a
		}
		breathe(ctx, 150*time.Millisecond)
	}
}

func breathe(ctx context.Context, d time.Duration) {
	pause, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-pause.Done()
}

// run is what a customer, their second tab and the merchant do with one order.
func (g *grid) run(ctx context.Context, c cell) {
	a := g.press(ctx, true, func(ctx context.Context, u client) answer { return u.createOrder(ctx, c.order, "order-"+c.order) })
	if a.status != http.StatusCreated {
		g.t.Errorf("order: %d %s %v", a.status, a.text, a.err)
		return
	}
	pay := func(key, token string) func(context.Context, client) answer {
		body := `{"payment_method":{"token":"` + token + `"},"capture":"` + c.capture + `"}`
		return func(ctx context.Context, u client) answer {
			return u.send(ctx, http.MethodPost, "/v1/orders/"+c.order+"/pay", body, "Idempotency-Key: "+key)
		}
	}
	var all sync.WaitGroup
	all.Go(func() { g.press(ctx, c.press == "the same again", pay("first-"+c.order, c.token)) })
	if c.press == "anew" {
		all.Go(func() {
			breathe(ctx, rand.N(1500*time.Millisecond))
			g.press(ctx, true, pay("second-"+c.order, "tok_success"))
		})
	}
	if c.command != "" {
		all.Go(func() { g.command(ctx, c) })
	}
	all.Wait()
}

// command is done to the order's first attempt, once it is there.
func (g *grid) command(ctx context.Context, c cell) {
	breathe(ctx, rand.N(800*time.Millisecond))
	var id string
	for range 20 { // a first press that died early leaves nothing to do
		a := g.press(ctx, true, func(ctx context.Context, u client) answer {
			return u.send(ctx, http.MethodGet, "/v1/orders/"+c.order+"/attempts?client_request_id=first-"+c.order, "")
		})
		var list struct {
			Items []attempt `json:"items"`
		}
		if json.Unmarshal(a.text, &list) == nil && len(list.Items) > 0 {
			id = list.Items[0].ID
			break
		}
		breathe(ctx, 150*time.Millisecond)
	}
	if id == "" {
		return
	}
	headers := []string{"Idempotency-Key: " + c.command + "-" + c.order}
	if c.command == "refunds" {
		headers = append(headers, "Authorization: Bearer "+token("shop", "service"), "On-Behalf-Of: u1")
	}
	for try := range 30 {
		a := g.press(ctx, true, func(ctx context.Context, u client) answer {
			return u.send(ctx, http.MethodPost, "/v1/payment-attempts/"+id+"/"+c.command, "{}", headers...)
		})
		code := a.peekProblem().Code
		if code != "attempt-not-refundable" && code != "attempt-not-capturable" || try == 29 {
			return
		}
		breathe(ctx, 100*time.Millisecond)
	}
}

// die lets the wave's runner die, twice: among the first calls, and among the
// second presses and commands.
func (g *grid) die(ctx context.Context, w wave, s *service) *service {
	for range 2 {
		if w.at == nowhere {
			breathe(ctx, 100*time.Millisecond+rand.N(500*time.Millisecond))
		} else {
			g.turnstile.hold(w.at)
			for n := 0; g.turnstile.held.Load() < 12 && n < 60; n++ {
				breathe(ctx, 10*time.Millisecond)
			}
		}
		if !w.freeze {
			s.kill()
			s = g.up()
			g.turnstile.letGo()
			continue
		}
		s.signal(syscall.SIGSTOP)
		frozen := s
		g.turnstile.open()
		s = g.up()
		breathe(ctx, 1800*time.Millisecond) // its leases end, others take over
		g.turnstile.letGo()
		frozen.signal(syscall.SIGCONT)
		breathe(ctx, 300*time.Millisecond) // what it does now it must not do
		frozen.kill()
	}
	return s
}

// TestTheGrid pays with every token, in every combination with a second press, a
// cancellation, a capture and a refund, while the runner is killed or frozen at
// each step. PAYLATCH_GRID_ROUNDS=10 does it ten times.
func TestTheGrid(t *testing.T) {
	t.Parallel()
	g := &grid{rig: newRig(t)}
	g.turnstile = newTurnstile(t, g.sandbox)
	s := g.up()
	for _, w := range waves() {
		var all sync.WaitGroup
		for _, c := range w.cells() {
			g.cells = append(g.cells, c)
			all.Go(func() { g.run(t.Context(), c) })
		}
		s = g.die(t.Context(), w, s)
		all.Wait()
	}
	g.ends(t)
	g.agrees(t)
}

// ends waits until every attempt and refund is final, or somebody is asked.
func (g *grid) ends(t *testing.T) {
	t.Helper()
	left := func() []string {
		return column[string](t, g.rig, `
			SELECT concat_ws(' ', a.order_id, a.attempt_id, a.stage, a.intent, a.checks, a.next_check_at - now()) FROM payment_attempts a
			WHERE (a.status = 'pending' OR a.next_check_at IS NOT NULL)
				AND NOT EXISTS (SELECT FROM discrepancies d WHERE d.attempt_id = a.attempt_id)
			UNION ALL SELECT concat_ws(' ', order_id, 'refund', refund_id, checks) FROM refunds WHERE status = 'pending'
			UNION ALL SELECT concat_ws(' ', 'event', provider_event_id, event_type, verdict) FROM provider_events WHERE next_try_at IS NOT NULL`)
	}
	if !soonEnough(func() bool { return len(left()) == 0 }) {
		for _, one := range left() {
			i := slices.IndexFunc(g.cells, func(c cell) bool { return c.order == one[:min(len(one), len(c.order))] })
			if i >= 0 {
				one = fmt.Sprintf("%+v: %s", g.cells[i], one)
			}
			t.Error("not final: " + one)
		}
	}
}

func soonEnough(met func() bool) bool {
	end := time.Now().Add(soon)
	for !met() {
		if time.Now().After(end) {
			return false
		}
		breathe(context.Background(), 50*time.Millisecond)
	}
	return true
}

// balance is what the provider's ledger says of one attempt.
type balance struct{ charges, taken, back int64 }

// agrees holds the provider's ledger against the database.
func (g *grid) agrees(t *testing.T) {
	t.Helper()
	ledger := map[string]*balance{}
	for _, m := range g.movements(t) {
		b := ledger[m.Reference]
		if b == nil {
			b = &balance{}
			ledger[m.Reference] = b
		}
		if m.Kind == "charge" {
			b.charges++
			b.taken += m.Amount
		} else {
			b.back += m.Amount
		}
	}
	type row struct {
		Order         string `json:"order"`
		ID            string `json:"id"`
		Status        string `json:"status"`
		Discrepancies string `json:"discrepancies"`
		Captured      int64  `json:"captured"`
		Refunded      int64  `json:"refunded"`
	}
	var rows []row
	for _, text := range column[string](t, g.rig, `
		SELECT json_build_object('order', order_id, 'id', attempt_id, 'status', status, 'captured', amount_captured, 'refunded', amount_refunded,
			'discrepancies', (SELECT coalesce(string_agg(kind, ' '), '') FROM discrepancies d WHERE d.attempt_id = a.attempt_id))::text
		FROM payment_attempts a ORDER BY created_at`) {
		var one row
		require.NoError(t, json.Unmarshal([]byte(text), &one))
		rows = append(rows, one)
	}
	plainCharges, known := map[string]int64{}, map[string]bool{}
	for _, a := range rows {
		c := g.cells[slices.IndexFunc(g.cells, func(c cell) bool { return c.order == a.Order })]
		what := fmt.Sprintf("%+v: %+v", c, a)
		known[a.ID] = true
		b := ledger[a.ID]
		if b == nil {
			b = &balance{}
		}
		require.LessOrEqual(t, b.charges, int64(1), "one attempt, one charge: %s", what)
		if a.Discrepancies == "" {
			plainCharges[a.Order] += b.charges
			require.Equal(t, a.Status == "succeeded", b.charges == 1, "paid, or not: %s", what)
		}
		require.Equal(t, b.taken, a.Captured, what)
		require.Equal(t, b.back, a.Refunded, what)
		g.holdsNothing(t, a.ID, a.Status+a.Discrepancies, what)
	}
	for order, n := range plainCharges {
		require.LessOrEqual(t, n, int64(1), "one order, one charge: %s", order)
	}
	for reference := range ledger {
		require.True(t, known[reference], "the provider charged for an attempt that nobody made: %s", reference)
	}
	g.verifies(t)
}

// holdsNothing requires that the provider holds no money for what has failed. A hold
// that came after the failure is given up when the provider has been asked.
func (g *grid) holdsNothing(t *testing.T, id, status, what string) {
	t.Helper()
	if status != "failed" {
		return
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		a := client{base: g.sandbox}.send(t.Context(), http.MethodGet, "/v1/charges?reference="+id, "")
		require.Equal(c, http.StatusOK, a.status)
		require.NotContains(c, string(a.text), `"status":"authorized"`, "a hold that nobody will ever take: %s", what)
		require.NotContains(c, string(a.text), `"status":"pending"`, "a payment that may still succeed: %s", what)
	}, time.Minute, 100*time.Millisecond)
}

// verifies runs paylatch verify.
func (g *grid) verifies(t *testing.T) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, "verify")
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "PAYLATCH_DATABASE_URL="+g.dsn)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "agree with their logs")
}
