package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	goclient "github.com/paylatch/paylatch/client"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/standard"
)

// eventsEach is how many events an attempt of TestAllIsTold has: it is authorized, succeeds, which pays its order, and
// two parts of it are refunded.
const eventsEach = 7

// tellSize returns the number of reported attempts, and how often the program is killed.
func tellSize(t *testing.T) (attempts, kills int) {
	t.Helper()
	if os.Getenv("PAYLATCH_LARGE") != "" {
		return 25_000, 10
	}
	t.Log("400 transitions, one kill; 100,000 and ten with PAYLATCH_LARGE=1")
	return 100, 1
}

// TestAllIsTold moves attempts by webhooks while the program is killed again and again. One endpoint fails for three deliveries
// in ten, before and after it has acted, another endpoint hangs, and the broker of a stream is restarted. The merchant acts once
// on each event, by package inbox. A reader of the feed, which is killed too, misses no event.
func TestAllIsTold(t *testing.T) {
	t.Parallel()
	attempts, kills := tellSize(t)
	r := newRig(t)
	shop := newStockist(t, attempts)
	nats := newNATSBroker(t)
	environ := []string{
		"PAYLATCH_ENDPOINTS=[" + shop.endpoint("shop", shop.url) + "," + shop.endpoint("hangs", hanging(t)) + "]", "PAYLATCH_STREAMS=[" + nats.stream() + "]",
	}
	w := &teller{rig: r, signer: partner(t), first: r.manyPendingAt(t, "partner", attempts)}
	s := r.serve(environ...)
	w.base.Store(&s.base)
	eventually(t, "the endpoints and the stream are registered, at the beginning", func() bool {
		return one[int](t, r, "SELECT (SELECT count(*) FROM endpoints) + (SELECT count(*) FROM streams)") == 3
	})

	ctx, end := context.WithCancel(t.Context())
	feed := &feedReader{base: &w.base, wrong: t.Errorf, key: func() string { return secret }, seen: map[string]bool{}, versions: map[string]int{}}
	var working sync.WaitGroup
	defer working.Wait()
	defer end()
	working.Go(func() { w.tellAll(ctx, t, attempts) })
	working.Go(func() { feed.read(ctx, t) })

	all := attempts * eventsEach
	for k := range kills {
		progress(t, "the next kill", &shop.acted, all*(k+1)/(kills+2))
		s.kill()
		nats.restart()
		s = r.serve(environ...)
		w.base.Store(&s.base)
	}
	progress(t, "each event was acted on", &shop.acted, all)
	progress(t, "each event was read", &feed.count, all)
	nats.hasAll(t, all)

	require.Equal(t, all, one[int](t, r, "SELECT count(*) FROM outbox"))
	shop.isRight(t, attempts, column[string](t, r, "SELECT message_id::text FROM outbox"))
	eventually(t, "nothing is left to be delivered to the shop", func() bool {
		return one[bool](t, r, `SELECT position = (SELECT last FROM outbox_head) AND NOT EXISTS (SELECT FROM endpoint_retries WHERE endpoint = 'shop')
			FROM endpoints WHERE name = 'shop'`)
	})
	require.Zero(t, one[int](t, r, "SELECT count(*) FROM endpoint_deliveries WHERE endpoint = 'hangs' AND error = ''"))
	require.Positive(t, one[int](t, r, "SELECT count(*) FROM endpoint_deliveries WHERE endpoint = 'shop' AND error <> ''"), "it failed now and then")
	r.verifies(t)
}

// progress waits for a count, as long as it moves.
func progress(t *testing.T, what string, count *atomic.Int64, least int) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	was, since := count.Load(), time.Now()
	for ; was < int64(least); <-tick.C {
		if now := count.Load(); now != was {
			was, since = now, time.Now()
		}
		require.Less(t, time.Since(since), 2*soon, "%s: %d of %d, and no more come", what, was, least)
	}
}

// manyPendingAt puts orders with a pending attempt on disk, numbered from 0, and returns the first part of their ids.
func (r *rig) manyPendingAt(t *testing.T, account string, n int) (prefix string) {
	t.Helper()
	prefix = "01900000-0000-7000-8000-"
	const each = " FROM generate_series(0, $1::int - 1) i"
	const id = "('01900000-0000-7000-8000-' || lpad(i::text, 12, '0'))::uuid"
	statements := []string{
		`INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, created_at, updated_at)
			SELECT 'o-' || i, 'u1', 'order-' || i, '\x01', 1999, 'EUR', now(), now()` + each,
		`INSERT INTO operations (order_id, attempt_id, kind, number, account, origin, state, sends, fence, next_at, first_sent_at, created_at)
			SELECT 'o-' || i, ` + id + `, 'charge', 0, '` + account + `', 'request', 'accepted', 1, 1, now() + interval '10 hours', now(), now()` + each,
		`INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, provider_payment_id,
				status, stage, amount, currency, created_at, updated_at)
			SELECT 'o-' || i, ` + id + `, 'u1', 'pay-' || i, '\x01', '` + account + `', 'ch-' || i, 'pending', 'processing', 1999, 'EUR', now(), now()` + each,
		`INSERT INTO attempt_references (account, reference, order_id, attempt_id)
			SELECT '` + account + `', name, 'o-' || i, ` + id + each + `, LATERAL (VALUES ('ch-' || i), (` + id + `::text)) names (name)`,
		`INSERT INTO attempt_transitions (order_id, attempt_id, version, from_stage, to_stage, cause, at)
			SELECT 'o-' || i, ` + id + `, 1, 'requested', 'processing', 'pay', now()` + each,
	}
	require.NoError(t, pgx.BeginFunc(t.Context(), r.db, func(tx pgx.Tx) error { // at one time, which verify compares
		for _, statement := range statements {
			if _, err := tx.Exec(t.Context(), statement, n); err != nil {
				return err
			}
		}
		return nil
	}))
	return prefix
}

// teller is the provider that sends the webhooks of all attempts, each until it is acknowledged.
type teller struct {
	*rig

	base   atomic.Pointer[string]
	signer *standard.Verifier
	first  string
}

// tellers send at once.
const tellers = 16

func (w *teller) tellAll(ctx context.Context, t *testing.T, attempts int) {
	t.Helper()
	var sending sync.WaitGroup
	defer sending.Wait()
	for k := range tellers {
		http := &http.Client{Timeout: time.Minute, Transport: &http.Transport{}}
		sending.Go(func() {
			defer http.CloseIdleConnections()
			for i := k; i < attempts && ctx.Err() == nil; i += tellers {
				for n, what := range []string{"charge.authorized", "charge.succeeded", "refund.succeeded", "refund.succeeded"} {
					w.tell(ctx, t, http, i, n, what)
				}
			}
		})
	}
}

// tell sends one webhook until it is acknowledged, since a provider can't know its result without a response.
func (w *teller) tell(ctx context.Context, t *testing.T, http *http.Client, i, n int, what string) {
	t.Helper()
	amount, refund := 1999, "null"
	if n > 1 {
		amount, refund = 100*n, strconv.Quote(fmt.Sprintf("re-%d-%d", i, n))
	}
	body := fmt.Sprintf(`{"id":"evt-%d-%d","type":%q,"created":"2026-01-02T12:00:0%dZ","data":{"charge_id":"ch-%d","refund_id":%s,"reference":"%s%012d",`+
		`"amount":%d,"currency":"EUR","failure_code":null}}`, i, n, what, n, i, refund, w.first, i, amount)
	for ctx.Err() == nil {
		if w.delivered(ctx, t, http, body, fmt.Sprintf("evt-%d-%d", i, n)) {
			return
		}
		wait, cancel := context.WithTimeout(ctx, pause)
		<-wait.Done()
		cancel()
	}
}

func (w *teller) delivered(ctx context.Context, t *testing.T, client *http.Client, body, id string) bool {
	t.Helper()
	d := webhooks.Delivery{Method: http.MethodPost, Header: http.Header{"Webhook-Id": {id}}, Body: []byte(body), ReceivedAt: time.Now()}
	if err := w.signer.Sign(&d); err != nil {
		t.Error(err)
		return true
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, *w.base.Load()+"/webhooks/partner", bytes.NewReader(d.Body))
	if err != nil {
		t.Error(err)
		return true
	}
	q.Header = d.Header
	res, err := client.Do(q)
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	if res.StatusCode == http.StatusOK && res.Header.Get("Webhook-Result") != "applied" && res.Header.Get("Webhook-Result") != "duplicate" {
		t.Errorf("%s: %s", id, res.Header.Get("Webhook-Result"))
	}
	return res.StatusCode == http.StatusOK
}

// feedReader reads the feed, and is killed now and then: it goes on from the cursor that it stored last.
type feedReader struct {
	base *atomic.Pointer[string]
	// wrong reports an event that breaks the contract.
	wrong func(format string, args ...any)
	// key returns the key that signs its token.
	key      func() string
	count    atomic.Int64
	mu       sync.Mutex
	seen     map[string]bool
	versions map[string]int
}

// killedEvery is after how many events the reader is killed.
const killedEvery = 333

func (f *feedReader) read(ctx context.Context, t *testing.T) {
	t.Helper()
	cursor := ""
	for ctx.Err() == nil {
		feed, err := goclient.New(*f.base.Load(), tokenBy(f.key(), "warehouse", "service"), goclient.Options{})
		if err != nil {
			t.Error(err)
			return
		}
		read := 0
		for e, err := range feed.Events(ctx, cursor, goclient.Feed{Limit: 100, Wait: time.Second}) {
			if err != nil {
				break // the program is away: the last cursor counts
			}
			f.note(e.Event)
			if read++; read%killedEvery == 0 {
				break // before the cursor is stored
			}
			cursor = e.Cursor
		}
		wait, cancel := context.WithTimeout(ctx, pause)
		<-wait.Done()
		cancel()
	}
}

// note requires that versions of a subject come in order where they come for the first time.
func (f *feedReader) note(e goclient.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen[e.ID] {
		return
	}
	if e.Version <= f.versions[e.Subject] {
		f.wrong("the feed has version %d of %s behind %d", e.Version, e.Subject, f.versions[e.Subject])
	}
	f.seen[e.ID], f.versions[e.Subject] = true, e.Version
	f.count.Add(1)
}

// seenIDs are the events that it has read.
func (f *feedReader) seenIDs() map[string]bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.seen)
}
