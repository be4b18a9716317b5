package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/devpg"
	"github.com/paylatch/paylatch/internal/dev/faults"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/standard"
)

// proveSettings are the settings of a replica: its database, its provider and its files are its own.
const proveSettings = `
listen: %s
environment: test
database_url: %q
data_dir: %q
encryption_keys: [%s]
auth: {hs256: [%s]}
default_account: sandbox
accounts:
  - {name: sandbox, kind: sandbox, base_url: %q, webhook_secrets: [%s], breaker: {failures: 0}, expiry: {awaiting_customer: 6s, authorized: 6s, slow: 6s}}
  - {name: partner, kind: standard, webhook_secrets: [%s]}
idempotency: {wait: 1s, lease: 1500ms, quota: {new_keys: 1000000, per: 1m}}
provider_timeout: 1s
reconcile: {after: 100ms, every: 50ms}
endpoints: [%s]
`

// replicas is how many processes serve, each behind proxies of its own.
const replicas = 3

// proof is three replicas on one PostgreSQL, a provider, and everything between them.
type proof struct {
	*rig

	history *history
	program string
	pg      *devpg.Server
	// pair is the primary with its standby. follows is the synchronous standby of now. The next standby is made from the directory former.
	pair    *pair
	follows *devpg.Server
	former  string
	// disks are the servers' filesystems, nil without them.
	disks   *disks
	box     *process
	boxArgs []string
	courier *courier
	// shop receives the events, and feeds read them.
	shop   *stockist
	feeds  []*feedReader
	nodes  []*node
	fronts []*door
	pace   time.Duration
	// patience is how long a check may fail while something is still on its way.
	patience time.Duration
	// first ends the run at the first violation.
	first bool
	round int
	// keys are the encryption keys of the configuration, as they are rotated.
	keys []string

	mu sync.Mutex
	// webhookRing are the provider's webhook secrets, and accepted the keys of tokens. signs is the number of the key that the shop uses.
	webhookRing, accepted ring
	signs                 int
	// recent are attempts that others poll.
	recent []polled
	// pressed are the pays of the round.
	pressed []press
	// oddOrders are the orders whose provider charges late, or another amount.
	oddOrders map[string]bool
	// disputed are the orders that a bank may have taken money back from.
	disputed map[string]bool
}

type polled struct{ order, user, attempt string }

// node is a replica with its proxies.
type node struct {
	*proof

	number   int
	dir      string
	clock    time.Duration
	listen   string
	database *faults.TCP
	dsn      string
	provider *faults.HTTP
	process  *process
}

// door is the proxy between clients and a replica.
type door struct{ *faults.TCP }

func (d *door) base() string { return "http://" + d.Address() }

func newProof(t *testing.T, h *history, program string, shop *stockist, standby bool) *proof {
	t.Helper()
	var both *pair
	var pg *devpg.Server
	if standby {
		both = newPair(t)
		pg = both.primary
	} else {
		pg = testdb.Private(t)
	}
	p := &proof{
		pair:    both,
		history: h, program: program, pg: pg, shop: shop, pace: 100 * time.Millisecond, patience: patience, keys: []string{keyOne},
		webhookRing: ring{key: webhookKey}, accepted: ring{key: keyOfTokens},
		oddOrders: map[string]bool{}, disputed: map[string]bool{},
		rig: &rig{t: t, dsn: pg.DSN("postgres"), hooks: newRelay(t)},
	}
	if standby {
		p.ownDisks(t)
	}
	db, err := pgxpool.New(t.Context(), p.dsn)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	p.db = db
	p.boxArgs = []string{
		"sandbox", "--listen", testdb.Address(t), "--state", filepath.Join(t.TempDir(), "state"), "--webhook-url", p.hooks.URL + "/webhooks/sandbox",
		"--webhook-secret", sandboxSecret,
	}
	p.startBox()
	p.box.says(t, "sandbox listens")
	p.sandbox = "http://" + p.boxArgs[2]
	p.gate = faults.NewHTTP(t, p.sandbox)
	for i := range replicas {
		n := &node{proof: p, number: i, dir: t.TempDir(), listen: testdb.Address(t), clock: []time.Duration{0, apart, -apart}[i]}
		n.database, n.dsn = faults.NewDatabase(t, p.dsn)
		n.provider = faults.NewHTTP(t, p.sandbox)
		p.nodes, p.fronts = append(p.nodes, n), append(p.fronts, &door{faults.NewTCP(t, "tcp", n.listen)})
		n.configure(t)
		n.start()
	}
	for _, n := range p.nodes {
		n.process.says(t, "serving")
	}
	return p
}

// supervise starts again what has ended by itself, as a supervisor does: a SIGHUP while a process starts ends it.
func (p *proof) supervise(t *testing.T, held func(target string) bool) {
	t.Helper()
	if !held("PostgreSQL") {
		p.reviveDead(t)
	}
	for i, n := range p.nodes {
		if held("replica " + strconv.Itoa(i)) {
			continue
		}
		select {
		case <-n.process.done:
			p.history.note("started again", fmt.Sprint("replica ", i), "%s", n.process.cmd.ProcessState)
			n.start()
		default:
		}
	}
}

func (p *proof) startBox() {
	p.box = startOf(p.t, binary, p.t.TempDir(), nil, p.boxArgs...)
	p.box.stderr.quiet = true
}

func (n *node) config() string { return filepath.Join(n.dir, "paylatch.yaml") }

// configure writes the configuration file, which the process reads at its start and after a SIGHUP.
func (n *node) configure(t *testing.T) {
	t.Helper()
	endpoint := n.shop.endpoint("shop", n.shop.url)
	text := fmt.Sprintf(proveSettings, n.listen, n.dsn, n.dir, strings.Join(n.keys, ", "), n.tokenKeys(), n.provider.URL, n.webhookSecrets(), partnerSecret, endpoint)
	next := n.config() + ".next" // a process may start and read it now
	require.NoError(t, os.WriteFile(next, []byte(text), 0o600))
	require.NoError(t, os.Rename(next, n.config()))
}

// start starts the process and does not wait until it serves.
func (n *node) start() {
	n.process = startOf(n.t, n.program, n.dir, []string{clockOff(n.clock), "CLOCK_STEP=" + n.steps()}, "serve", "--config", n.config())
	n.process.stderr.quiet = true
}

func (p *proof) remember(order, user, attempt string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.recent = append(p.recent, polled{order, user, attempt})
	if len(p.recent) > 40 {
		p.recent = p.recent[len(p.recent)-40:]
	}
}

func (p *proof) recall(dice *rand.Rand) (polled, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.recent) == 0 {
		return polled{}, false
	}
	return p.recent[dice.IntN(len(p.recent))], true
}

func (p *proof) pays(of press) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pressed = append(p.pressed, of)
}

// courier carries the provider's webhooks to replicas by chance, and doubles, delays and repeats them.
type courier struct {
	*proof

	dice  *rand.Rand
	mu    sync.Mutex
	old   []*faults.Request
	lates sync.WaitGroup
	quiet atomic.Bool
}

func (c *courier) roll(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dice.IntN(n)
}

// carry takes the place of the way to one service.
func (c *courier) carry(faults.Way) faults.Way {
	return func(r *faults.Request) *faults.Response {
		id := r.Header.Get("Webhook-Id")
		c.history.note("webhook", id, "%s", r.Body)
		if !c.quiet.Load() {
			switch c.roll(12) {
			case 0: // it comes later, behind others
				return nil
			case 1, 2: // twice at once, by different replicas
				c.lates.Go(func() { c.take(r.WithContext(context.WithoutCancel(r.Context())), r.Body, c.roll(replicas)) })
			case 3: // and again later
				c.lates.Go(func() {
					breathe(c.t.Context(), time.Duration(c.roll(8000))*time.Millisecond)
					c.take(r.WithContext(context.WithoutCancel(r.Context())), r.Body, c.roll(replicas))
				})
			case 4:
				breathe(r.Context(), time.Duration(c.roll(3000))*time.Millisecond)
			}
		}
		a := c.take(r.Request, r.Body, c.roll(replicas))
		if a.err != nil {
			return nil
		}
		return &faults.Response{Status: a.status, Header: a.header, Body: a.text}
	}
}

// take delivers a webhook to a replica and notes the acknowledgement.
func (c *courier) take(r *http.Request, body []byte, replica int) answer {
	ctx, cancel := context.WithTimeout(r.Context(), 2*patient)
	defer cancel()
	c.history.sent.Add(1)
	out, err := http.NewRequestWithContext(ctx, r.Method, c.fronts[replica].base()+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	out.Header = r.Header.Clone()
	a := exchange(out)
	id := r.Header.Get("Webhook-Id")
	if a.err != nil {
		return a
	}
	c.history.note("ack", id, "%d %s", a.status, a.header.Get("Webhook-Result"))
	if a.status == http.StatusOK {
		c.hooks.ack(id)
		if strings.HasSuffix(r.URL.Path, "/sandbox") {
			c.file(r.Header, body)
		}
	}
	return a
}

// file keeps some deliveries, which come again much later.
func (c *courier) file(header http.Header, body []byte) {
	if c.roll(10) != 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.old = append(c.old, &faults.Request{Request: &http.Request{Header: header.Clone()}, Body: bytes.Clone(body)})
}

// sendOld sends old events of the sandbox again, signed anew, and a partner's events: each again, some at a time that no clock explains.
func (c *courier) sendOld(ctx context.Context, dice *rand.Rand) {
	other := partner(c.t)
	forger, err := standard.New(webhooks.Config{Secrets: []string{stockistSecret}})
	require.NoError(c.t, err)
	for ctx.Err() == nil {
		breathe(ctx, time.Duration(50+dice.IntN(300))*time.Millisecond)
		c.mu.Lock()
		var old *faults.Request
		if len(c.old) > 0 {
			old = c.old[dice.IntN(len(c.old))]
		}
		c.mu.Unlock()
		if old != nil && dice.IntN(2) == 0 {
			box, err := standard.New(webhooks.Config{Secrets: []string{c.webhookSecret()}})
			require.NoError(c.t, err)
			c.deliver(ctx, box, "sandbox", old.Header.Get("Webhook-Id"), string(old.Body), dice.IntN(replicas), 0)
			continue
		}
		event := unique("evt")
		if dice.IntN(6) == 0 { // forged
			if a := c.deliver(ctx, forger, "partner", event, chargeSucceeded(event, unique("ch"), unique("of")), dice.IntN(replicas), 0); a.status == http.StatusOK {
				c.history.wrong("webhooks", "%s was acknowledged, and its signature is wrong", event)
			}
			continue
		}
		body := chargeSucceeded(event, unique("ch"), unique("of"))
		off := []time.Duration{0, 0, 0, -time.Hour, time.Hour}[dice.IntN(5)]
		for range 1 + dice.IntN(3) {
			a := c.deliver(ctx, other, "partner", event, body, dice.IntN(replicas), off)
			if off != 0 && a.err == nil && a.status == http.StatusOK {
				c.history.wrong("webhooks", "%s was acknowledged, and its signature is %s off", event, off)
			}
		}
	}
}

// deliver signs an event and delivers it.
func (c *courier) deliver(ctx context.Context, by webhooks.Signer, account, id, body string, replica int, off time.Duration) answer {
	d := webhooks.Delivery{
		Method: http.MethodPost, Header: http.Header{"Webhook-Id": {id}, "Content-Type": {"application/json"}}, Body: []byte(body), ReceivedAt: time.Now().Add(off),
	}
	if err := by.Sign(&d); err != nil {
		return answer{err: err}
	}
	r, err := http.NewRequestWithContext(context.WithoutCancel(ctx), d.Method, "http://replica/webhooks/"+account, http.NoBody)
	if err != nil {
		return answer{err: err}
	}
	r.Header = d.Header
	return c.take(r, d.Body, replica)
}
