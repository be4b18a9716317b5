package broker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/dev/devnats"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/events/broker"
	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/postgres"
)

// serveNATS names the variables with which this program is a NATS server that can be killed.
const serveNATSDir, serveNATSPort = "PAYLATCH_TEST_NATS_DIR", "PAYLATCH_TEST_NATS_PORT"

func TestMain(m *testing.M) {
	if dir := os.Getenv(serveNATSDir); dir != "" {
		port, err := strconv.Atoi(os.Getenv(serveNATSPort))
		if err == nil {
			_, err = devnats.Start(dir, port)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_, _ = io.Copy(io.Discard, os.Stdin) // it ends with the tests, however they end
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// wait bounds each wait of a test.
const wait = 5 * time.Minute

var errKilled = errors.New("the process is dead")

// env is a database of its own.
type env struct {
	store *postgres.Store
	conn  *pgx.Conn
	url   string
}

func newEnv(t *testing.T) *env {
	t.Helper()
	url := testdb.New(t)
	store := enginetest.Store(t, url)
	return &env{store: store, conn: testdb.Connect(t, url), url: url}
}

// generate commits versions from+1 to from+each of orders, as events of the order and of an attempt in turn.
func (e *env) generate(t *testing.T, orders, from, each int) {
	t.Helper()
	_, err := e.conn.Exec(t.Context(), `WITH b AS (INSERT INTO outbox_batches (events, created_at) SELECT $1::int, now() FROM generate_series(1, $2::int) RETURNING batch)
		INSERT INTO outbox (batch, nth, order_id, message_id, subject, type, version, payload, created_at)
		SELECT v.batch, o, 'o' || o, gen_random_uuid(), CASE v.version % 2 WHEN 0 THEN 'o' ELSE 'a' END || o,
			CASE v.version % 2 WHEN 0 THEN $4 ELSE $5 END, v.version, '{"a": "<&>"}', now()
		FROM (SELECT batch, $3::int + row_number() OVER (ORDER BY batch) AS version FROM b) v, generate_series(1, $1::int) o`,
		orders, each, from, outbox.OrderPaid, outbox.AttemptUpdated)
	require.NoError(t, err)
}

// number gives positions to all events.
func (e *env) number(t *testing.T) {
	t.Helper()
	for {
		from, to, err := e.store.NumberEvents(t.Context(), 1000)
		require.NoError(t, err)
		if from == to {
			return
		}
	}
}

// leasesEnd ends the lease of a process that is dead.
func (e *env) leasesEnd(t *testing.T) {
	t.Helper()
	_, err := e.conn.Exec(t.Context(), "UPDATE streams SET lease_until = now() - interval '1 second'")
	require.NoError(t, err)
}

// published reports whether all events have a position, and a process has published them.
func (e *env) published(t *testing.T, p *process) bool {
	t.Helper()
	var unnumbered int
	require.NoError(t, e.conn.QueryRow(t.Context(), "SELECT count(*) FROM outbox_batches WHERE last IS NULL").Scan(&unnumbered))
	return unnumbered == 0 && p.status(t).Behind == 0
}

// feed is the events as the feed has them, by id.
func (e *env) feed(t *testing.T) map[string]string {
	t.Helper()
	head, err := e.store.EventsHead(t.Context())
	require.NoError(t, err)
	events, err := e.store.EventsAfter(t.Context(), outbox.Query{Until: head, Limit: 100_000})
	require.NoError(t, err)
	all := map[string]string{}
	for _, event := range events {
		all[event.ID.String()] = string(encode(event))
	}
	return all
}

func encode(e outbox.Event) []byte { return render.JSON(render.Event(e)) }

// mortal is the store of a process: once that is dead, nothing of it is written any more.
type mortal struct {
	broker.Store

	dead atomic.Bool
	// fatal is how often something acknowledged is recorded until the process dies instead; less than 1 for never.
	fatal atomic.Int32
	died  chan struct{}
}

func (m *mortal) RecordPublished(ctx context.Context, l lease.Lease, r broker.Result) error {
	if r.Position > 0 && m.fatal.Add(-1) == 0 {
		m.dead.Store(true)
		close(m.died)
	}
	if m.dead.Load() {
		return errKilled
	}
	return m.Store.RecordPublished(ctx, l, r)
}

func (m *mortal) RenewStream(ctx context.Context, l lease.Lease, life time.Duration) error {
	if m.dead.Load() {
		return errKilled
	}
	return m.Store.RenewStream(ctx, l, life)
}

func (m *mortal) TakeStream(ctx context.Context, name string, life time.Duration) (lease.Lease, error) {
	if m.dead.Load() {
		return lease.Lease{}, errKilled
	}
	return m.Store.TakeStream(ctx, name, life)
}

// process publishes, as one of several processes.
type process struct {
	store   *mortal
	service *broker.Service
	stop    context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	failed []error
	lost   int64
}

// change holds a test's changes to the usual environment.
type change func(p *process, o *broker.Options)

// diesAt has a process die in the place of its nth record.
func diesAt(n int32) change {
	return func(p *process, _ *broker.Options) { p.store.fatal.Store(n) }
}

// start runs a process with short pauses, which gives positions, too. The lease of a killed one ends by leasesEnd: a busy machine would
// lose a short lease.
func (e *env) start(t *testing.T, open func(ctx context.Context) (broker.Broker, error), changes ...change) *process {
	t.Helper()
	p := &process{store: &mortal{Store: e.store.Streams(), died: make(chan struct{})}}
	o := broker.Options{
		Store: p.store, Head: &outbox.Head{}, Encode: encode, Now: time.Now,
		Log: func(_ string, err error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.failed = append(p.failed, err)
		},
		Lost: func(_ string, events int64) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.lost += events
		},
	}
	for _, c := range changes {
		c(p, &o)
	}
	p.service = broker.NewService([]broker.Stream{{Name: "jobs", Open: open}}, o)
	p.service.Hasten(50 * time.Millisecond)
	require.NoError(t, p.service.Register(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	p.stop = cancel
	n := &outbox.Numberer{Store: e.store, Head: o.Head, Log: testdb.Fails(t, "number")}
	p.running.Go(func() { p.service.Run(ctx) })
	p.running.Go(func() { _ = n.Run(ctx) })
	t.Cleanup(p.end)
	return p
}

// end stops the process as a signal does.
func (p *process) end() {
	p.stop()
	p.running.Wait()
}

// kill has nothing written any more.
func (p *process) kill() {
	p.store.dead.Store(true)
	p.end()
}

func (p *process) failures() []error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]error{}, p.failed...)
}

func (p *process) lostEvents() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}

func (p *process) status(t *testing.T) broker.Status {
	t.Helper()
	list, err := p.service.List(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	return list[0]
}

// waits returns once something holds.
func waits(t *testing.T, holds func() bool, what string) {
	t.Helper()
	require.Eventually(t, holds, wait, 20*time.Millisecond, what)
}

// message is a message stored by a broker.
type message struct {
	id, kind, key, body string
	traceparent         string
}

// event is a body, as far as the order goes.
type event struct {
	ID      string `json:"id"`
	Subject string `json:"subject"`
	Version int    `json:"version"`
}

// requireOrder fails where the first occurrence of an event is not the next of its order. It returns how many are repeats.
func requireOrder(t *testing.T, all []message) (repeats int) {
	t.Helper()
	ids, versions := map[string]bool{}, map[string]int{}
	for _, m := range all {
		if ids[m.id] {
			repeats++
			continue
		}
		ids[m.id] = true
		var e event
		require.NoError(t, json.Unmarshal([]byte(m.body), &e))
		require.Equal(t, m.id, e.ID)
		order := e.Subject[1:]
		require.Equal(t, versions[order]+1, e.Version, "of order %s", order)
		versions[order] = e.Version
	}
	return repeats
}

// requireAll fails unless the broker has exactly the events of the feed, with its bytes.
func (e *env) requireAll(t *testing.T, all []message) {
	t.Helper()
	bodies := map[string]string{}
	for _, m := range all {
		if before, again := bodies[m.id]; again {
			require.Equal(t, before, m.body, "a repeat has the same bytes")
		}
		bodies[m.id] = m.body
	}
	require.Equal(t, e.feed(t), bodies)
}
