package endpoint_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/events/outbox"
)

// soon bounds each wait of a test.
const soon = 5 * time.Minute

var errKilled = errors.New("the process is dead")

// mortal is the store of a process: once that is dead, nothing of it is written any more.
type mortal struct {
	endpoint.Store

	dead atomic.Bool
}

func (m *mortal) RecordDeliveries(ctx context.Context, l lease.Lease, r endpoint.Result) error {
	if m.dead.Load() {
		return errKilled
	}
	return m.Store.RecordDeliveries(ctx, l, r)
}

func (m *mortal) RenewEndpoint(ctx context.Context, l lease.Lease, life time.Duration) error {
	if m.dead.Load() {
		return errKilled
	}
	return m.Store.RenewEndpoint(ctx, l, life)
}

// process serves endpoints, as one of several processes.
type process struct {
	store   *mortal
	stop    context.CancelFunc
	running sync.WaitGroup
}

// start runs a process with short pauses. Its clock is the machine's. The lease of a killed one ends by leasesEnd: a busy machine would
// lose a short lease.
func (e *env) start(t *testing.T, list ...endpoint.Endpoint) *process {
	t.Helper()
	p := &process{store: &mortal{Store: e.store.Endpoints()}}
	o := e.options(t)
	o.Store, o.Now, o.Head = p.store, time.Now, &outbox.Head{}
	o.Log = func(name string, err error) {
		if !p.store.dead.Load() {
			testdb.Fails(t, "endpoint "+name)(err)
		}
	}
	s := e.service(t, o, list...)
	for _, sender := range s.Senders() {
		sender.Hasten()
	}
	ctx, cancel := context.WithCancel(t.Context())
	p.stop = cancel
	n := &outbox.Numberer{Store: e.store, Head: o.Head, Log: testdb.Fails(t, "number")}
	p.running.Go(func() { s.Run(ctx) })
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

// leasesEnd ends the leases of processes that are dead.
func (e *env) leasesEnd(t *testing.T) {
	t.Helper()
	_, err := e.conn.Exec(t.Context(), "UPDATE endpoints SET lease_until = now() - interval '1 second'")
	require.NoError(t, err)
}

// inOrder fails the test where a version is not a repeat, and not the next of its subject. It returns how many came, and how many
// of those were repeats.
func (v *receiver) inOrder(t *testing.T) (came, repeats int) {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	ids, versions := map[string]bool{}, map[string]int{}
	for _, m := range v.messages {
		if ids[m.ID] {
			repeats++
			continue
		}
		require.Equal(t, versions[m.Subject]+1, m.Version, "of subject %s", m.Subject)
		ids[m.ID], versions[m.Subject] = true, m.Version
	}
	return len(v.messages), repeats
}

func (v *receiver) distinct() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.bodies)
}

// generate commits versions 1 to each of subjects.
func (e *env) generate(t *testing.T, subjects, each int) {
	t.Helper()
	_, err := e.conn.Exec(t.Context(), `WITH b AS (INSERT INTO outbox_batches (events, created_at) SELECT $1::int, now() FROM generate_series(1, $2::int) RETURNING batch)
		INSERT INTO outbox (batch, nth, order_id, message_id, subject, type, version, payload, created_at)
		SELECT v.batch, s, '', gen_random_uuid(), 's' || s, $3, v.version, '{}', now()
		FROM (SELECT batch, row_number() OVER (ORDER BY batch) AS version FROM b) v, generate_series(1, $1::int) s`,
		subjects, each, outbox.AttemptUpdated)
	require.NoError(t, err)
}

// TestTakeover kills a process in the middle of a batch: another one goes on after the lease.
func TestTakeover(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	middle := make(chan struct{})
	var seen atomic.Int32
	v := receive(t, nil, func(http.ResponseWriter, message, int) {
		if seen.Add(1) == 40 {
			close(middle)
		}
	})
	first := e.start(t, to("shop", v))
	second := e.start(t, to("shop", v))
	e.generate(t, 10, 20)
	<-middle
	first.kill()
	second.kill() // one of the two had the lease
	e.leasesEnd(t)
	third := e.start(t, to("shop", v))
	require.Eventually(t, func() bool { return v.distinct() == 200 }, soon, 20*time.Millisecond)
	third.end()
	came, repeats := v.inOrder(t)
	require.LessOrEqual(t, repeats, 100, "at most the batch is repeated")
	t.Logf("%d deliveries of 200 events, %d repeats", came, repeats)
}

// TestHang has an endpoint that never responds beside another one.
func TestHang(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	over := make(chan struct{})
	hanging := receive(t, nil, func(http.ResponseWriter, message, int) { <-over })
	v := receive(t, nil, ok)
	p := e.start(t, to("hangs", hanging), to("shop", v))
	e.generate(t, 50, 4)
	began := time.Now()
	require.Eventually(t, func() bool { return v.distinct() == 200 }, soon, 20*time.Millisecond)
	t.Logf("200 events took %s beside an endpoint that hangs", time.Since(began).Round(time.Millisecond))
	const atOnce, each = 8, 15 * time.Second // as many requests as may wait at once, and how long each of them waits
	require.Eventually(t, func() bool { return len(hanging.got()) >= atOnce }, soon, 20*time.Millisecond)
	came := len(hanging.got())
	require.LessOrEqual(t, came, atOnce*(1+int(time.Since(began)/each)), "no more wait at once")
	p.end() // does not wait for the requests
	close(over)
	v.inOrder(t)
}

// TestSoak delivers many events to a receiver that fails three times in ten, beside one that hangs, while processes are stopped and
// killed.
func TestSoak(t *testing.T) {
	t.Parallel()
	subjects, each := 200, 25
	if os.Getenv("PAYLATCH_TIMED") != "" {
		subjects, each = 2000, 50
	}
	e := newEnv(t)
	over := make(chan struct{})
	hanging := receive(t, nil, func(http.ResponseWriter, message, int) { <-over })
	t.Cleanup(func() { close(over) })
	var mu sync.Mutex
	accepted, events := map[string]int{}, 0
	v := receive(t, nil, func(w http.ResponseWriter, m message, _ int) {
		mu.Lock()
		defer mu.Unlock()
		switch last := accepted[m.Subject]; {
		case m.Version > last+1:
			t.Errorf("version %d of %s came, although %d was not accepted", m.Version, m.Subject, last+1)
		case rand.N(10) < 3:
			w.WriteHeader(http.StatusServiceUnavailable)
		case m.Version == last+1:
			accepted[m.Subject]++
			events++
		}
	})
	shop := to("shop", v)
	for range 100 {
		shop.Schedule = append(shop.Schedule, 5*time.Millisecond)
	}
	p := e.start(t, to("hangs", hanging), shop)
	e.generate(t, subjects, each)
	all := subjects * each
	for i := range 10 {
		require.Eventually(t, func() bool { return v.distinct() >= all*(i+1)/12 }, 5*time.Minute, 10*time.Millisecond)
		if i%2 == 0 {
			p.end()
		} else {
			p.kill()
			e.leasesEnd(t)
		}
		p = e.start(t, to("hangs", hanging), shop)
	}
	require.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return events == all
	}, 10*time.Minute, 50*time.Millisecond)
	p.end()
	came, repeats := v.inOrder(t)
	t.Logf("%d requests for %d events, %d of them repeats or retries", came, all, repeats)
	var dead int
	require.NoError(t, e.conn.QueryRow(t.Context(), "SELECT count(*) FROM endpoint_retries WHERE endpoint = 'shop'").Scan(&dead))
	require.Zero(t, dead)
}
