package endpoint_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/postgres"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secret makes a secret of a text.
func secret(text string) string {
	return "whsec_" + base64.StdEncoding.EncodeToString([]byte(text+"-0123456789abcdef0123456789"))
}

// message is a delivery as a receiver saw it.
type message struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Subject string `json:"subject"`
	Version int    `json:"version"`
}

// receiver is the merchant's side. It fails the test for a delivery that is not signed by one of its secrets.
type receiver struct {
	*httptest.Server

	mu       sync.Mutex
	messages []message
	bodies   map[string]string
}

// receive serves with the response of answer. The number counts the deliveries of the id, from 1.
func receive(t *testing.T, secrets []string, answer func(w http.ResponseWriter, m message, number int)) *receiver {
	t.Helper()
	v := &receiver{bodies: map[string]string{}}
	seen := map[string]int{}
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the sender was cut off
		}
		for _, s := range secrets {
			hook, err := standardwebhooks.NewWebhook(s)
			if err == nil {
				err = hook.Verify(body, r.Header)
			}
			if err != nil {
				t.Errorf("verify: %v", err)
			}
		}
		var m message
		if err := json.Unmarshal(body, &m); err != nil {
			t.Errorf("body: %v", err)
		}
		v.mu.Lock()
		if before, again := v.bodies[m.ID]; again && before != string(body) || m.ID != r.Header.Get("webhook-id") {
			t.Errorf("the body of %s is another one", m.ID)
		}
		v.bodies[m.ID] = string(body)
		v.messages = append(v.messages, m)
		seen[m.ID]++
		number := seen[m.ID]
		v.mu.Unlock()
		answer(w, m, number)
	}))
	t.Cleanup(v.Close)
	return v
}

func ok(w http.ResponseWriter, _ message, _ int) { w.WriteHeader(http.StatusNoContent) }

// got lists the received events, as subject and version.
func (v *receiver) got() (all []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, m := range v.messages {
		all = append(all, fmt.Sprintf("%s %d", m.Subject, m.Version))
	}
	return all
}

// env is a database of its own, with processes whose clock stands, and is wrong: retries are by the database's.
type env struct {
	store *postgres.Store
	conn  *pgx.Conn
	head  *outbox.Head
	mu    sync.Mutex
	now   time.Time
	lost  map[string]int64
}

func newEnv(t *testing.T) *env {
	t.Helper()
	url := testdb.New(t)
	store := enginetest.Store(t, url)
	return &env{store: store, conn: testdb.Connect(t, url), head: &outbox.Head{}, lost: map[string]int64{}, now: time.Now().Add(90 * time.Second).Truncate(time.Millisecond)}
}

func (e *env) clock() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now
}

// minute has one pass by the clock of the processes.
func (e *env) minute() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now = e.now.Add(time.Minute)
}

func (e *env) options(t *testing.T) endpoint.Options {
	t.Helper()
	return endpoint.Options{
		Store: e.store.Endpoints(), Feed: outbox.NewFeed(e.store, e.head), Head: e.head, Now: e.clock, Jitter: func() float64 { return 0.5 },
		Encode: func(e outbox.Event) []byte { return render.JSON(render.Event(e)) },
		Log:    func(name string, err error) { testdb.Fails(t, "endpoint "+name)(err) },
		Lost: func(name string, events int64) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.lost[name] += events
		},
	}
}

// lostByShop is how many events the endpoint shop has lost.
func (e *env) lostByShop() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lost["shop"]
}

// purge deletes the events of before a time.
func (e *env) purge(t *testing.T, before time.Time, want int) {
	t.Helper()
	n, err := e.store.PurgeEvents(t.Context(), before, 100)
	require.NoError(t, err)
	require.Equal(t, want, n)
}

// service registers endpoints, so that they get the events written from now on.
func (e *env) service(t *testing.T, o endpoint.Options, list ...endpoint.Endpoint) *endpoint.Service {
	t.Helper()
	v, err := endpoint.NewService(list, o)
	require.NoError(t, err)
	require.NoError(t, v.Register(t.Context()))
	return v
}

// sender is that of a receiver.
func (e *env) sender(t *testing.T, v *receiver) (*endpoint.Service, *endpoint.Sender) {
	t.Helper()
	s := e.service(t, e.options(t), to("shop", v))
	return s, s.Senders()[0]
}

func to(name string, v *receiver) endpoint.Endpoint {
	return endpoint.Endpoint{Name: name, URL: v.URL, Secrets: []string{secret("a")}, AllowPrivate: true}
}

// write commits events "subject version" and numbers them.
func (e *env) write(t *testing.T, events ...string) {
	t.Helper()
	for _, text := range events {
		var subject string
		var version int
		_, err := fmt.Sscanf(text, "%s %d", &subject, &version)
		require.NoError(t, err)
		_, err = e.conn.Exec(t.Context(), `WITH b AS (INSERT INTO outbox_batches (events, created_at) VALUES (1, $5) RETURNING batch)
			INSERT INTO outbox (batch, nth, order_id, message_id, subject, type, version, payload, created_at)
			SELECT batch, 1, '', $1, $2, $3, $4, '{"a": "<&>"}', $5 FROM b`, uuid.NewSHA1(uuid.Nil, []byte(text)), subject, outbox.AttemptUpdated, version, e.clock())
		require.NoError(t, err)
	}
	e.number(t.Context(), t)
}

func (e *env) number(ctx context.Context, t *testing.T) {
	t.Helper()
	for {
		from, to, err := e.store.NumberEvents(ctx, 1000)
		require.NoError(t, err)
		if from == to {
			return
		}
	}
}

// send makes one pass, and returns in how long the next retry is due, 0 for at once; less where none waits.
func (e *env) send(t *testing.T, s *endpoint.Sender) time.Duration {
	t.Helper()
	require.NoError(t, s.Pass(t.Context()))
	next, now := e.nextDue(t, s)
	if next == nil {
		return -1
	}
	return max(next.Sub(now), 0)
}

// fails makes one pass, and requires that the next retry is due some time after it.
func (e *env) fails(t *testing.T, s *endpoint.Sender, want time.Duration) {
	t.Helper()
	_, began := e.nextDue(t, s)
	require.NoError(t, s.Pass(t.Context()))
	next, ended := e.nextDue(t, s)
	require.NotNil(t, next)
	require.WithinRange(t, next.Add(-want), began, ended)
}

// nextDue returns when the next retry is due, nil where none waits, and the database's clock.
func (e *env) nextDue(t *testing.T, s *endpoint.Sender) (next *time.Time, now time.Time) {
	t.Helper()
	require.NoError(t, e.conn.QueryRow(t.Context(), "SELECT min(next_at), now() FROM endpoint_retries WHERE state = 'due' AND endpoint = $1", s.Name).Scan(&next, &now))
	return next, now
}

// dueIn has all retries that wait for their time due in another one.
func (e *env) dueIn(t *testing.T, d time.Duration) {
	t.Helper()
	_, err := e.conn.Exec(t.Context(), "UPDATE endpoint_retries SET next_at = now() + make_interval(secs => $1) WHERE state = 'due'", d.Seconds())
	require.NoError(t, err)
}

func (e *env) status(t *testing.T, v *endpoint.Service) endpoint.Status {
	t.Helper()
	list, err := v.List(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	return list[0]
}
