package rejected_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/backoffice/rejected"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
	"github.com/paylatch/paylatch/internal/platform/current"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/standard"
)

// env is a database and the deliveries that were taken in.
type env struct {
	t     *testing.T
	store *postgres.RejectedStore
	conn  *pgx.Conn

	mu                 sync.Mutex
	now                time.Time
	taken              []payment.ReceivedEvent
	dropped, recovered map[string]int
	takeErr            error
}

func newEnv(t *testing.T) *env {
	t.Helper()
	dsn := testdb.New(t)
	store := enginetest.Store(t, dsn)
	return &env{
		t: t, store: store.Rejected(), conn: testdb.Connect(t, dsn), now: time.Now().UTC().Truncate(time.Microsecond),
		dropped: map[string]int{}, recovered: map[string]int{},
	}
}

func (e *env) clock() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now
}

func (e *env) after(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now = e.now.Add(d)
}

func (e *env) take(_ context.Context, received []payment.ReceivedEvent) ([]fsm.Verdict, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.takeErr != nil {
		return nil, e.takeErr
	}
	e.taken = append(e.taken, received...)
	return make([]fsm.Verdict, len(received)), nil
}

func (e *env) count(in map[string]int) func(string) {
	return func(account string) {
		e.mu.Lock()
		defer e.mu.Unlock()
		in[account]++
	}
}

func box(t *testing.T) *auth.Sealer {
	t.Helper()
	sealer, err := auth.NewSealer([]auth.Key{{ID: "k1", Secret: []byte(strings.Repeat("k", 32))}})
	require.NoError(t, err)
	return sealer
}

// by returns the deliveries of a process with this configuration.
func (e *env) by(accounts map[string]rejected.Account) *rejected.Deliveries {
	e.t.Helper()
	return rejected.New(rejected.Options{
		Store: e.store, Box: box(e.t), Accounts: current.Of(accounts), Take: e.take, Dropped: e.count(e.dropped), Recovered: e.count(e.recovered), Now: e.clock,
	})
}

// account is one at the sandbox with a secret.
func account(t *testing.T, secret string) map[string]rejected.Account {
	t.Helper()
	return map[string]rejected.Account{"acc": {Verifier: verifier(t, secret), Fingerprint: []byte(secret)}}
}

func verifier(t *testing.T, secret string) *standard.Verifier {
	t.Helper()
	v, err := standard.New(webhooks.Config{Secrets: []string{"whsec_" + base64.StdEncoding.EncodeToString([]byte(secret))}})
	require.NoError(t, err)
	return v
}

// delivery is one of an event that a secret signed, signed some time before it comes.
func (e *env) delivery(id, secret string, age time.Duration) webhooks.Delivery {
	e.t.Helper()
	now := e.clock()
	d := webhooks.Delivery{
		Method: http.MethodPost, URL: "https://here.example/webhooks/acc", Header: http.Header{"Webhook-Id": {id}, "Cookie": {"a=b"}},
		Body: []byte(`{"type":"charge.succeeded","data":{"charge_id":"` + id + `","amount":1999,"currency":"EUR"}}`), ReceivedAt: now.Add(-age),
		RemoteAddr: netip.MustParseAddr("192.0.2.7"),
	}
	require.NoError(e.t, verifier(e.t, secret).Sign(&d))
	d.ReceivedAt = now
	return d
}

// verifiesAll verifies until there is no more.
func (e *env) verifiesAll(d *rejected.Deliveries) {
	e.t.Helper()
	for more := true; more; {
		var err error
		more, err = d.VerifyAgain(e.t.Context())
		require.NoError(e.t, err)
	}
}

func (e *env) kept() int64 {
	e.t.Helper()
	counts, err := e.store.Counts(e.t.Context())
	require.NoError(e.t, err)
	return counts["acc"]
}

func (e *env) ids() (ids []string) {
	for _, r := range e.taken {
		ids = append(ids, r.Event.ID)
	}
	return ids
}

// keep keeps a delivery that the account's configuration of now has rejected.
func keep(d *rejected.Deliveries, account string, delivery webhooks.Delivery) {
	d.Keep(account, d.Accounts.Get(account).Fingerprint, delivery)
}
