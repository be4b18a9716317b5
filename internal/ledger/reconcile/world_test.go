package reconcile_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/dev/sandbox"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/ledger/imports"
	"github.com/paylatch/paylatch/internal/ledger/recheck"
	"github.com/paylatch/paylatch/internal/ledger/reconcile"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
	"github.com/paylatch/paylatch/internal/platform/worker"
	"github.com/paylatch/paylatch/internal/postgres"
	client "github.com/paylatch/paylatch/internal/provider/sandbox"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/standard"
)

// The tests of this file test the purpose of reconciliation: after a month at a provider that loses webhooks, every amount
// here equals the provider's. Everything is real except the clock, which the process, the database and the sandbox
// share.

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	account  = "sandbox"
	secret   = "whsec_YWNjZXB0YW5jZWFjY2VwdGFuY2VhY2NlcHRhbmNl"
	lose     = .2
	patience = time.Minute
)

// world is the service, wired as the program wires it, and the sandbox, each at the other's address.
type world struct {
	clock

	began      time.Time
	random     *rand.Rand
	store      *postgres.Store
	box        *sandbox.Server
	opts       sandbox.Options
	use        *commands.Commands
	books      *reconcile.Reconciler
	background []worker.Loop
	daily      worker.Loop
	final      worker.Loop

	// payments are all payments that began, todo are their later actions, by day.
	payments []*made
	todo     map[int][]func(t *testing.T)
	day      int
	// planned is the payment whose charge is decided next, status is the status of the charge until then.
	planned *made
	status  string
	// listed counts the events that the sandbox has made, due the webhooks that must arrive.
	listed, due int

	mu        sync.Mutex
	delivered map[string]bool
	found     map[string]int // by results of the daily runs
	failed    int
	lookups   map[string]int // by results of the lookups of final attempts
}

// newWorld makes a world in which lookups are changed by look, unless that is nil.
func newWorld(t *testing.T, look func(gateway.Provider) gateway.Provider) *world {
	t.Helper()
	dsn, seed := testdb.New(t), seedOf(t)
	began := time.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	w := &world{
		clock: newClock(t, dsn, began), began: began, random: rand.New(rand.NewPCG(seed, 1)), todo: map[int][]func(t *testing.T){},
		delivered: map[string]bool{}, found: map[string]int{}, lookups: map[string]int{},
	}
	w.store, _ = enginetest.Open(t, dsn)
	var receive http.Handler
	hook := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.deliver(rw, r, receive) }))
	t.Cleanup(hook.Close)
	w.startSandbox(t, seed, hook.URL+"/webhooks/"+account)
	receive = w.wire(t, look)
	return w
}

// startSandbox runs the sandbox until the test ends.
func (w *world) startSandbox(t *testing.T, seed uint64, hook string) {
	t.Helper()
	w.opts = sandbox.Options{WebhookURL: hook, WebhookSecret: secret, Lose: lose, Seed: seed, Now: w.Now, Until: w.Until}
	var err error
	w.box, err = sandbox.New(w.opts)
	require.NoError(t, err)
	enginetest.Run(t, w.box.Run)
	t.Cleanup(func() { require.NoError(t, w.box.Close()) })
}

// wire wires the packages and returns the handler of webhooks.
func (w *world) wire(t *testing.T, look func(gateway.Provider) gateway.Provider) http.Handler {
	t.Helper()
	server := httptest.NewServer(w.box)
	t.Cleanup(server.Close)
	at := client.New(server.URL, "", server.Client())
	provider := gateway.Provider(at)
	if look != nil {
		provider = look(provider)
	}
	rules := changeset.Rules{
		Accounts: current.Of(map[string]gateway.Account{account: {Provider: provider, Books: at, Events: at, Hears: true}}),
		Schedule: payment.Schedule{First: 10 * time.Second, Lease: 30 * time.Second},
	}
	verifier, err := standard.New(webhooks.Config{Secrets: []string{secret}})
	require.NoError(t, err)
	e := engine.New(engine.Options{
		Store: w.store, Rules: rules, Readers: current.Of(map[string]webhooks.Reader{account: verifier}), DefaultAccount: account,
		Wait: time.Minute, ProviderTimeout: 25 * time.Second, Now: w.Now,
		Seal: func(text string, _ []byte) ([]byte, error) { return []byte(text), nil },
		Open: func(sealed, _ []byte) (string, error) { return string(sealed), nil },
	})
	w.use = e.Commands
	w.books = reconcile.New(reconcile.Options{
		Store: w.store, Payments: e.Runner, Rules: rules, Now: w.Now,
		Recall: func(ctx context.Context, p imports.Past) error {
			return imports.Make(ctx, imports.Options{Store: w.store, Rules: rules, Account: p.Account, Now: w.Now}, p)
		},
	})
	enginetest.Run(t, e.Run)
	w.background = []worker.Loop{worker.Reconcile(e.Runner, time.Second, zerolog.Nop()), worker.RetryParked(e.Inbox), worker.RetryEarly(e.Inbox)}
	w.daily = worker.ReconcileBooks(w.books, w.counted, zerolog.Nop())
	w.final = worker.Recheck(recheck.New(recheck.Options{Store: w.store, Runner: e.Runner, Accounts: rules.Accounts, Now: w.Now, Counted: func(_, result string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.lookups[result]++
	}}))
	return api.New(api.Options{
		Payments: w.use, Deliveries: e.Inbox, Accounts: current.Of(map[string]api.WebhookAccount{account: {Verifier: verifier}}), Log: zerolog.Nop(), Now: w.Now,
	})
}

// deliver passes a webhook on and notes which has been acknowledged.
func (w *world) deliver(rw http.ResponseWriter, r *http.Request, receive http.Handler) {
	answer := httptest.NewRecorder()
	receive.ServeHTTP(answer, r)
	if answer.Code < http.StatusMultipleChoices {
		w.mu.Lock()
		w.delivered[r.Header.Get("Webhook-Id")] = true
		w.mu.Unlock()
	}
	rw.WriteHeader(answer.Code)
}

// counted gets the results of each daily run.
func (w *world) counted(_ string, results map[string]int, failed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for result, n := range results {
		w.found[result] += n
	}
	if failed {
		w.failed++
	}
}

// run runs a portion of loops and waits for the work that they began.
func (w *world) run(t *testing.T, loops ...worker.Loop) {
	t.Helper()
	for _, loop := range loops {
		_, err := loop.Do(t.Context())
		require.NoError(t, err, loop.Name)
		if loop.Rest != nil {
			loop.Rest()
		}
	}
}

// call is a call of the sandbox, by a person at its dashboard or by the test. It returns the status.
func (w *world) call(t *testing.T, method, path, body string, answer any) int {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	got := httptest.NewRecorder()
	w.box.ServeHTTP(got, r)
	if got.Code < http.StatusMultipleChoices {
		require.NoError(t, json.NewDecoder(got.Body).Decode(answer))
	}
	return got.Code
}

// wait lets some time pass, and returns when all webhooks that are due by then, and are not lost, were received, and a charge that
// decides itself has.
func (w *world) wait(t *testing.T, by time.Duration) {
	t.Helper()
	w.pass(t, by)
	if w.planned != nil {
		require.Eventually(t, func() bool { return w.charge(t, w.planned).Status != w.status }, patience, 2*time.Millisecond)
		w.planned = nil
		w.pass(t, time.Second) // one has two events, of times that differ
	}
	w.events(t)
	require.Eventually(t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.delivered) == w.due
	}, patience, 2*time.Millisecond, "webhooks that are not received")
}

// events counts the sandbox's new events, and those of them whose webhooks must arrive.
func (w *world) events(t *testing.T) {
	t.Helper()
	for {
		var page struct{ Items []json.RawMessage }
		require.Equal(t, http.StatusOK, w.call(t, http.MethodGet, "/v1/events?cursor="+strconv.Itoa(w.listed), "", &page))
		for range page.Items {
			if !w.opts.Loses(w.listed) {
				w.due++
			}
			w.listed++
		}
		if len(page.Items) == 0 {
			return
		}
	}
}

// rows reads texts.
func (w *world) rows(t *testing.T, sql string) []string {
	t.Helper()
	found, err := w.db.Query(t.Context(), sql)
	require.NoError(t, err)
	all, err := pgx.CollectRows(found, pgx.RowTo[string])
	require.NoError(t, err)
	return all
}
