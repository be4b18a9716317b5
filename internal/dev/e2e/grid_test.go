package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// cell is one combination: the payment method, the customer's other actions, and the command on the attempt.
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
	// account is the account of the pay. body is the body of a press, and second the token of a second press. The shop's backend
	// sends the press, or else the customer.
	account   map[string]any
	body      func(token, capture string) string
	second    string
	byBackend bool
	// environ replaces settings.
	environ []string
}

// short lets the schedule and the expiry pass within seconds.
func (g *grid) short() []string {
	account := maps.Clone(g.account)
	account["name"], account["base_url"], account["breaker"] = account["kind"], g.turnstile.URL, map[string]int{"failures": 0}
	account["expiry"] = map[string]string{"awaiting_customer": "6s", "authorized": "6s", "slow": "6s"}
	accounts, err := json.Marshal([]any{account})
	require.NoError(g.t, err)
	return []string{
		"PAYLATCH_ACCOUNTS=" + string(accounts), fmt.Sprintf("PAYLATCH_DEFAULT_ACCOUNT=%s", account["kind"]), "PAYLATCH_IDEMPOTENCY_LEASE=3s", "PAYLATCH_PROVIDER_TIMEOUT=2s",
		"PAYLATCH_IDEMPOTENCY_WAIT=1s", "PAYLATCH_RECONCILE_AFTER=200ms", "PAYLATCH_RECONCILE_EVERY=50ms",
	}
}

func (g *grid) up() *service {
	s := g.serve(append(g.short(), g.environ...)...)
	g.base.Store(&s.base)
	return s
}

// press sends a command to the process that serves. If patient is set, it sends the command with the same key until it gets an answer. A
// frozen runner does not answer, so each try has a time limit. On a busy machine a healthy process may not answer in time
// either, so the limit grows.
func (g *grid) press(ctx context.Context, patient bool, do func(ctx context.Context, c client) answer) answer {
	end := time.Now().Add(2 * soon)
	for limit := 2500 * time.Millisecond; ; limit = min(2*limit, soon/2) {
		try, cancel := context.WithTimeout(ctx, limit)
		u := client{base: *g.base.Load(), token: token("u1", "customer"), blunt: true}
		if g.byBackend {
			u = u.backend()
		}
		a := do(try, u)
		cancel()
		again := a.err != nil || a.status >= http.StatusInternalServerError || a.peekProblem().Code == "request-in-progress"
		if !again || !patient || ctx.Err() != nil {
			return a
		}
		if time.Now().After(end) {
			g.t.Errorf("no answer in %s, the last one was: %d %s %v", 2*soon, a.status, a.text, a.err)
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

// run does the actions of a customer, their second tab and the merchant on one order.
func (g *grid) run(ctx context.Context, c cell) {
	a := g.press(ctx, true, func(ctx context.Context, u client) answer { return u.createOrder(ctx, c.order, "order-"+c.order) })
	if a.status != http.StatusCreated {
		g.t.Errorf("order: %d %s %v", a.status, a.text, a.err)
		return
	}
	pay := func(key, token string) func(context.Context, client) answer {
		return func(ctx context.Context, u client) answer {
			if c.capture == "manual" { // a hold is the shop's to ask for
				u = u.backend()
			}
			return u.send(ctx, http.MethodPost, "/v1/orders/"+c.order+"/pay", g.body(token, c.capture), "Idempotency-Key: "+key)
		}
	}
	var all sync.WaitGroup
	all.Go(func() { g.press(ctx, c.press == "the same again", pay("first-"+c.order, c.token)) })
	if c.press == "anew" {
		all.Go(func() {
			breathe(ctx, rand.N(1500*time.Millisecond))
			g.press(ctx, true, pay("second-"+c.order, g.second))
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
	if c.command == "refunds" || c.capture == "manual" {
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
			for n := 0; g.turnstile.held.Held() < 12 && n < 60; n++ {
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
		g.turnstile.Mend()
		s = g.up()
		breathe(ctx, 3300*time.Millisecond) // its leases end, others take over
		g.turnstile.letGo()
		frozen.signal(syscall.SIGCONT)
		breathe(ctx, 300*time.Millisecond) // a wrong action would happen within this time
		frozen.kill()
	}
	return s
}

// TestTheGrid pays with every token, in every combination with a second press, a
// cancellation, a capture and a refund, while the runner is killed or frozen at
// each step. PAYLATCH_GRID_ROUNDS=10 does it ten times.
func TestTheGrid(t *testing.T) {
	t.Parallel()
	g := &grid{
		rig: newRig(t), account: map[string]any{"kind": "sandbox", "webhook_secrets": []string{sandboxSecret}}, second: "tok_success",
		body: func(token, capture string) string {
			if capture == "automatic" {
				return `{"payment_method":{"token":"` + token + `"}}`
			}
			return `{"payment_method":{"token":"` + token + `"},"capture":"` + capture + `"}`
		},
	}
	g.turnstile = newTurnstile(t, g.sandbox)
	g.plays(t, g.up(), waves(), wave.cells)
	g.ends(t)
	g.agrees(t)
}

// plays runs the cells of each wave at once, while the runner dies.
func (g *grid) plays(t *testing.T, s *service, waves []wave, cells func(wave) []cell) *service {
	t.Helper()
	for _, w := range waves {
		var all sync.WaitGroup
		for _, c := range cells(w) {
			g.cells = append(g.cells, c)
			all.Go(func() { g.run(t.Context(), c) })
		}
		s = g.die(t.Context(), w, s)
		all.Wait()
	}
	return s
}

// patience is longer than the schedule's step that the oldest attempts have reached, 72 s, and than the sandbox's wait before it
// sends a webhook again. A webhook that the last wave lost comes after that.
const patience = 2 * soon

// ends waits until every attempt and refund is final, or has a discrepancy.
func (g *grid) ends(t *testing.T) {
	t.Helper()
	g.inTheEnd(t, func() []string {
		left := column[string](t, g.rig, `
			SELECT concat_ws(' ', a.order_id, a.attempt_id, a.stage, o.kind, o.number, o.state, o.tries, o.next_at - now())
			FROM payment_attempts a LEFT JOIN operations o ON o.attempt_id = a.attempt_id AND o.open
			WHERE (a.status = 'pending' OR o.refund_id IS NOT NULL OR o.state <> 'accepted')
				AND NOT EXISTS (SELECT FROM discrepancies d WHERE d.attempt_id = a.attempt_id)
			UNION ALL SELECT concat_ws(' ', order_id, 'refund', refund_id) FROM refunds WHERE status = 'pending'
			UNION ALL SELECT concat_ws(' ', 'event', provider_event_id, event_type, verdict) FROM provider_events WHERE next_try_at IS NOT NULL`)
		for i, one := range left {
			at := slices.IndexFunc(g.cells, func(c cell) bool { return strings.HasPrefix(one, c.order) })
			if at >= 0 {
				left[i] = fmt.Sprintf("not final: %+v: %s", g.cells[at], one)
			}
		}
		return left
	})
}

// inTheEnd waits until nothing is wrong any more.
func (g *grid) inTheEnd(t *testing.T, wrong func() []string) {
	t.Helper()
	var last []string
	for end := time.Now().Add(patience); time.Now().Before(end); breathe(t.Context(), 200*time.Millisecond) {
		if last = wrong(); len(last) == 0 {
			return
		}
	}
	t.Fatal(strings.Join(last, "\n"))
}

// balance is the provider's ledger of one attempt.
type balance struct{ charges, taken, back, disputed int64 }

func (r *rig) balances(t *testing.T) map[string]balance {
	t.Helper()
	all := map[string]balance{}
	for _, m := range r.movements(t) {
		b := all[m.Reference]
		switch m.Kind {
		case "charge":
			b.charges++
			b.taken += m.Amount
		case "chargeback":
			b.disputed += m.Amount
		case "chargeback_reversal":
			b.disputed -= m.Amount
		default:
			b.back += m.Amount
		}
		all[m.Reference] = b
	}
	return all
}

// outcome is the database's state of one attempt.
type outcome struct {
	Order         string `json:"order"`
	ID            string `json:"id"`
	Status        string `json:"status"`
	Discrepancies string `json:"discrepancies"`
	Captured      int64  `json:"captured"`
	Refunded      int64  `json:"refunded"`
	Disputed      int64  `json:"disputed"`
}

func (r *rig) outcomes(t *testing.T) []outcome {
	t.Helper()
	all := column[outcome](t, r, `
		SELECT json_build_object('order', order_id, 'id', attempt_id, 'status', status, 'captured', amount_captured, 'refunded', amount_refunded, 'disputed', amount_disputed,
			'discrepancies', (SELECT coalesce(string_agg(kind, ' '), '') FROM discrepancies d WHERE d.attempt_id = a.attempt_id))
		FROM payment_attempts a ORDER BY created_at`)
	require.NotEmpty(t, all)
	return all
}

// agrees compares the provider's ledger with the database. The webhook of the provider's last action may still be on its way.
func (g *grid) agrees(t *testing.T) {
	t.Helper()
	g.inTheEnd(t, func() []string { return g.disagreements(t) })
	g.verifies(t)
}

func (g *grid) disagreements(t *testing.T) []string {
	t.Helper()
	return g.rig.disagreements(t, func(order string) (string, bool) {
		at := slices.IndexFunc(g.cells, func(c cell) bool { return c.order == order })
		return fmt.Sprintf("%+v", g.cells[at]), true
	})
}

// disagreements are the differences between the provider's ledger and the database. about describes an order, and tells whether to look
// for its holds at the provider, too.
func (r *rig) disagreements(t *testing.T, about func(order string) (string, bool)) []string {
	t.Helper()
	var all []string
	says := func(ok bool, format string, args ...any) {
		if !ok {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	ledger, plain := r.balances(t), map[string]int64{}
	for _, a := range r.outcomes(t) {
		b := ledger[a.ID]
		delete(ledger, a.ID)
		order, look := about(a.Order)
		what := fmt.Sprintf("%s: %+v: %+v", order, a, b)
		says(b.charges <= 1, "one attempt, one charge: %s", what)
		says(b.taken == a.Captured && b.back == a.Refunded && b.disputed == a.Disputed, "not the amounts of the ledger: %s", what)
		if a.Discrepancies == "" {
			plain[a.Order] += b.charges
			says((a.Status == "succeeded") == (b.charges == 1), "paid, or not: %s", what)
		}
		says(a.Status != "failed" || a.Discrepancies != "" || !look || !r.holds(t, a.ID), "a hold that nobody will ever take: %s", what)
	}
	for order, n := range plain {
		says(n <= 1, "one order, one charge: %s", order)
	}
	for reference := range ledger {
		says(false, "the provider charged for an attempt that nobody made: %s", reference)
	}
	return all
}

// holds reports whether the provider holds money of an attempt, or still may.
func (r *rig) holds(t *testing.T, id string) bool {
	t.Helper()
	a := client{base: r.sandbox}.send(t.Context(), http.MethodGet, "/v1/charges?reference="+id, "")
	a.is(t, http.StatusOK)
	return bytes.Contains(a.text, []byte(`"status":"authorized"`)) || bytes.Contains(a.text, []byte(`"status":"pending"`))
}
