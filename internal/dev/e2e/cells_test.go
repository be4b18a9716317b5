package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/devpg"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/payment"
)

// twoCells is one service on two PostgreSQL servers: orders that begin with eu- are in cell 1.
type twoCells struct {
	*service

	servers [2]*devpg.Server
	rigs    [2]*rig
	environ []string
}

// prefixes begin the orders of the cells.
var prefixes = [2]string{"", "eu-"}

func newTwoCells(t *testing.T) *twoCells {
	t.Helper()
	c := &twoCells{servers: [2]*devpg.Server{testdb.Private(t), testdb.Private(t)}}
	for i, account := range []string{"sandbox", "sandbox-eu"} {
		c.rigs[i] = newRigOf(t, c.servers[i].DSN("postgres"), account)
	}
	of := func(name string, cell int, more string) string {
		return fmt.Sprintf("{name: %s, cell: %d, %s}", name, cell, more)
	}
	charging := func(r *rig) string {
		return fmt.Sprintf("kind: sandbox, base_url: %q, webhook_secrets: [%s], breaker: {failures: 0}", r.gate.URL, sandboxSecret)
	}
	hearing := "kind: standard, webhook_secrets: [" + partnerSecret + "]"
	c.environ = []string{
		fmt.Sprintf("PAYLATCH_CELLS=[{number: 1, database_url: %q, order_prefixes: [eu-]}]", c.rigs[1].dsn),
		"PAYLATCH_ACCOUNTS=[" + strings.Join([]string{
			of("sandbox", 0, charging(c.rigs[0])), of("partner", 0, hearing), of("sandbox-eu", 1, charging(c.rigs[1])), of("partner-eu", 1, hearing),
		}, ", ") + "]",
	}
	c.service = c.rigs[0].serve(c.environ...)
	c.rigs[1].hooks.Lead(c.base)
	return c
}

// paid pays an order of a cell, and returns the attempt once it is final.
func (c *twoCells) paid(t *testing.T, order string) attempt {
	t.Helper()
	u := c.customer()
	u.createOrder(t.Context(), order, unique("create")).is(t, http.StatusCreated)
	return u.settled(t, u.pay(t.Context(), order, unique("pay"), "tok_async_success").attempt(t, http.StatusCreated).ID)
}

// TestCells: one process serves two databases, and each request leads to the right one.
func TestCells(t *testing.T) {
	t.Parallel()
	c := newTwoCells(t)
	shop := client{base: c.base, token: token("shop", "service")}
	var attempts []string
	for round := range 3 {
		for i, r := range c.rigs {
			a := c.paid(t, fmt.Sprintf("%sA-%d", prefixes[i], round))
			require.Equal(t, payment.Cell(i), payment.CellOf(uuid.MustParse(a.ID)))
			r.charged(t, a.ID, 1999)
			r.told(t, a)
			attempts = append(attempts, a.ID)
		}
	}
	for i, r := range c.rigs {
		require.Len(t, column[string](t, r, `SELECT attempt_id::text FROM payment_attempts`), 3, "in cell %d", i)
		for _, id := range column[uuid.UUID](t, r, `SELECT event_id FROM provider_events`) {
			require.Equal(t, payment.Cell(i), payment.CellOf(id))
		}
	}
	c.createsOrders(t, shop)
	c.listsAll(t, shop, attempts)
	c.feedsAll(t, shop, attempts)
	c.findsAll(t)
	c.refunds(t, attempts[1])
	c.showsEach(t)
	c.staffReadsAll(t, attempts[1])
	c.commands(t, attempts[1])
	require.Empty(t, c.stderr.failures())
}

// createsOrders: an order without an id is in cell 0, and its id leads there. An account of another cell is unknown to an order.
func (c *twoCells) createsOrders(t *testing.T, shop client) {
	t.Helper()
	shop.user = "u1"
	made := shop.send(t.Context(), http.MethodPost, "/v1/orders", `{"amount":500,"currency":"EUR"}`, "Idempotency-Key: "+unique("key"))
	made.is(t, http.StatusCreated)
	var order struct {
		ID string `json:"order_id"`
	}
	require.NoError(t, json.Unmarshal(made.text, &order))
	shop.send(t.Context(), http.MethodGet, "/v1/orders/"+order.ID, "").is(t, http.StatusOK)
	key := unique("create")
	shop.createOrder(t.Context(), "eu-again", key).result(t, "created")
	shop.createOrder(t.Context(), "eu-again", key).result(t, "reused")
	pay := func(account string) answer {
		return shop.send(t.Context(), http.MethodPost, "/v1/orders/eu-again/pay", `{"account":"`+account+`","payment_method":{"token":"tok_success"}}`, "Idempotency-Key: "+unique("pay"))
	}
	pay("sandbox").is(t, http.StatusUnprocessableEntity)
	require.Equal(t, "succeeded", pay("sandbox-eu").attempt(t, http.StatusCreated).Status)
}

func (c *twoCells) listsAll(t *testing.T, shop client, attempts []string) {
	t.Helper()
	var seen []string
	var last time.Time
	for cursor := ""; ; {
		a := shop.send(t.Context(), http.MethodGet, "/v1/payment-attempts?limit=2&status=succeeded&cursor="+cursor, "")
		a.is(t, http.StatusOK)
		var page struct {
			Items []struct {
				ID        string    `json:"payment_attempt_id"`
				CreatedAt time.Time `json:"created_at"`
			} `json:"items"`
			Next *string `json:"next_cursor"`
		}
		require.NoError(t, json.Unmarshal(a.text, &page))
		for _, item := range page.Items {
			require.True(t, last.IsZero() || !item.CreatedAt.After(last), "newest first")
			seen, last = append(seen, item.ID), item.CreatedAt
		}
		if page.Next == nil {
			break
		}
		cursor = *page.Next
	}
	require.Len(t, seen, 7)
	require.Subset(t, seen, attempts)
	one := shop.send(t.Context(), http.MethodGet, "/v1/payment-attempts?account=sandbox-eu", "")
	require.Equal(t, 4, strings.Count(string(one.text), `"payment_attempt_id"`))
}

func (c *twoCells) feedsAll(t *testing.T, shop client, attempts []string) {
	t.Helper()
	ended := map[string]int{}
	cursor := ""
	eventually(t, "all events", func() bool {
		a := shop.send(t.Context(), http.MethodGet, "/v1/events?limit=3&type=payment_attempt.succeeded&after="+cursor, "")
		a.is(t, http.StatusOK)
		var page struct {
			Items []struct {
				Subject string `json:"subject"`
			} `json:"items"`
			Next string `json:"next_cursor"`
		}
		require.NoError(t, json.Unmarshal(a.text, &page))
		require.LessOrEqual(t, len(page.Items), 3)
		for _, item := range page.Items {
			ended[item.Subject[strings.LastIndex(item.Subject, "/")+1:]]++
		}
		cursor = page.Next
		return len(ended) == 7 && len(page.Items) == 0
	})
	for _, id := range attempts {
		require.Equal(t, 1, ended[id], "%v", ended)
	}
}

func (c *twoCells) findsAll(t *testing.T) {
	t.Helper()
	staff := c.as(token("ada", "admin"))
	for query, n := range map[string]int{"eu-A-1": 1, "A-1": 1, "u1": 8} {
		eventually(t, "hits for "+query, func() bool {
			a := staff.send(t.Context(), http.MethodGet, "/v1/support/search?limit=50&q="+url.QueryEscape(query), "")
			return a.status == http.StatusOK && strings.Count(string(a.text), `"type":"order"`) >= n
		})
	}
}

// refunds: a payment's refunds are in its cell, too.
func (c *twoCells) refunds(t *testing.T, attempt string) {
	t.Helper()
	a := c.customer().refundFive(t.Context(), attempt)
	a.is(t, http.StatusCreated)
	var refund struct {
		ID uuid.UUID `json:"refund_id"`
	}
	require.NoError(t, json.Unmarshal(a.text, &refund))
	require.Equal(t, payment.Cell(1), payment.CellOf(refund.ID))
	c.customer().send(t.Context(), http.MethodGet, "/v1/refunds/"+refund.ID.String(), "").is(t, http.StatusOK)
	require.Equal(t, []uuid.UUID{refund.ID}, column[uuid.UUID](t, c.rigs[1], `SELECT refund_id FROM refunds`))
}

// showsEach: a request without an object belongs to the cell in its parameter; metrics are of both cells.
func (c *twoCells) showsEach(t *testing.T) {
	t.Helper()
	staff := c.as(token("ada", "admin"))
	staff.send(t.Context(), http.MethodGet, "/v1/support/discrepancies?cell=2", "").is(t, http.StatusUnprocessableEntity)
	got := staff.send(t.Context(), http.MethodGet, "/metrics", "")
	got.is(t, http.StatusOK)
	for _, n := range []string{"0", "1"} {
		require.Contains(t, string(got.text), `paylatch_webhooks_total{account="sandbox`+map[string]string{"0": "", "1": "-eu"}[n]+`",cell="`+n+`"`)
	}
	require.Equal(t, 1, strings.Count(string(got.text), "\ngo_goroutines"))
	ready := staff.send(t.Context(), http.MethodGet, "/readyz", "")
	require.Contains(t, string(ready.text), `"cell 1: database":"ok"`)
}

// commands act in all cells, or in the cell of the named object.
func (c *twoCells) commands(t *testing.T, attempt string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "paylatch.yaml")
	text := fmt.Sprintf(settings, c.rigs[0].dsn+"&connect_timeout=15", dir, secret, c.rigs[0].gate.URL, sandboxSecret, stripeSecret, partnerSecret)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	run := func(args ...string) string {
		var out []byte
		eventually(t, "a response of both databases", func() bool {
			cmd := exec.CommandContext(t.Context(), binary, append([]string{"--config", file}, args...)...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), c.environ...)
			var err error
			out, err = cmd.CombinedOutput()
			if err != nil && unreached(string(out)) {
				return false
			}
			require.NoError(t, err, "%v: %s", args, out)
			return true
		})
		return string(out)
	}
	require.Equal(t, 2, strings.Count(run("verify"), "agree with their logs"))
	require.Equal(t, 1, strings.Count(run("--cell", "1", "verify"), "agree with their logs"))
	require.Equal(t, 2, strings.Count(run("migrate", "status"), "VERSION"))
	require.Contains(t, run("attempt", "show", attempt), "eu-A-0")

	shop := c.shop(uuid.NewString())
	for _, prefix := range prefixes {
		shop.createOrder(t.Context(), prefix+"erased", unique("create")).is(t, http.StatusCreated)
	}
	require.Equal(t, 2, strings.Count(run("erase", "--user", shop.user), "the name was removed from 1 orders, and"))
	for _, r := range c.rigs {
		require.Zero(t, one[int](t, r, "SELECT count(*) FROM orders WHERE user_id = $1", shop.user))
	}
}

// TestACellIsKilled: 64 callers are at two cells on two servers, and one server is killed. The callers of the other cell don't notice.
func TestACellIsKilled(t *testing.T) {
	t.Parallel()
	c := newTwoCells(t)
	var loads [2]*load
	for i := range loads {
		loads[i] = newLoad(t, c.service)
		loads[i].prefix, loads[i].account = prefixes[i], []string{"partner", "partner-eu"}[i]
		loads[i].run(t, 16)
	}
	more := func(what string, l *load, n int) {
		t.Helper()
		was := l.counts()
		eventually(t, what, func() bool { return l.counts() > was+n })
	}
	more("load of both", loads[0], 200)
	more("load of both", loads[1], 200)
	before := loads[0].refused()
	crash(t, c.servers[1])
	more("refusals of the other", loads[1], 50)
	// A busy machine refuses some pays at times. If this cell depended on the other cell, it would refuse pays as long as the other is away.
	refused, during := 0, 0
	for try := 0; try == 0 || refused > during/50 && try < 10; try++ {
		began, was, had := time.Now(), loads[0].counts(), loads[0].refused()
		more("load of the first alone", loads[0], 400)
		refused, during = loads[0].refused()-had, loads[0].counts()-was
		t.Logf("%d answers of cell 0 in %s while cell 1 was away, %d of them refused (%d before)", during, time.Since(began).Round(time.Millisecond), refused, before)
	}
	require.LessOrEqual(t, refused, during/50, "%v", loads[0].seen)
	anyone := client{base: c.base, blunt: true}
	eventually(t, "ready without cell 1", func() bool {
		ready := anyone.send(t.Context(), http.MethodGet, "/readyz", "")
		require.Contains(t, string(ready.text), `"cell 1: database":"failed"`)
		return ready.status == http.StatusOK
	})
	revive(t, c.servers[1])
	c.rigs[1].db.Reset()
	more("load of both again", loads[0], 100)
	paid := loads[1].paidSoFar()
	eventually(t, "pays in the cell that came back", func() bool { return loads[1].paidSoFar() > paid+10 })
	for _, l := range loads {
		l.stop()
	}
	for i, l := range loads {
		l.kept(t, c.rigs[i])
	}
}

// refused counts the answers that sent a caller away.
func (l *load) refused() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for kind, times := range l.seen {
		if strings.Contains(kind, " 5") {
			n += times
		}
	}
	return n
}

func (l *load) paidSoFar() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.paid)
}
