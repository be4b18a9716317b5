package sandbox_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/sandbox"
)

const (
	patience = 5 * time.Minute
	tick     = 5 * time.Millisecond
)

// quick has short pauses. A delivery may take as long as a busy machine needs: a delivery that is given up is sent again, and would be
// counted twice.
func quick() sandbox.Delays {
	return sandbox.Delays{
		Timeout: patience,
		Async:   40 * time.Millisecond, Late: 80 * time.Millisecond, Webhook: 10 * time.Millisecond,
		RetryMin: 5 * time.Millisecond, RetryMax: 50 * time.Millisecond,
	}
}

// env is a running sandbox and a client of it.
type env struct {
	url    string
	client *http.Client
	stop   func() // ends Run and closes the state file, once
}

func start(t *testing.T, opts sandbox.Options) *env {
	t.Helper()
	if opts.Delays == (sandbox.Delays{}) {
		opts.Delays = quick()
	}
	s, err := sandbox.New(opts)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	r := serve(t, s)
	r.stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ran)
		require.NoError(t, s.Close())
	})
	t.Cleanup(r.stop)
	return r
}

// serve makes an env of a sandbox that does not run.
func serve(t *testing.T, s *sandbox.Server) *env {
	t.Helper()
	server := httptest.NewServer(s)
	client := &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 200},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		server.Close()
	})
	return &env{url: server.URL, client: client}
}

// startWithReceiver starts a sandbox that sends its webhooks to a new receiver.
func startWithReceiver(t *testing.T, opts sandbox.Options) (*env, *receiver) {
	t.Helper()
	rec := newReceiver(t)
	opts.WebhookURL, opts.WebhookSecret = rec.url, secret
	return start(t, opts), rec
}

type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) charge(t *testing.T) charge { t.Helper(); return parse[charge](t, a.body) }
func (a answer) refund(t *testing.T) refund { t.Helper(); return parse[refund](t, a.body) }

func (a answer) failure(t *testing.T) failure {
	t.Helper()
	return parse[struct{ Error failure }](t, a.body).Error
}

func parse[T any](t *testing.T, body string) T {
	t.Helper()
	var v T
	require.NoError(t, json.Unmarshal([]byte(body), &v), body)
	return v
}

type charge struct {
	ID, Reference, Status, Currency, Capture, Created string

	Amount         int64
	AmountCaptured int64                       `json:"amount_captured"`
	AmountRefunded int64                       `json:"amount_refunded"`
	FailureCode    *string                     `json:"failure_code"`
	FailureMessage *string                     `json:"failure_message"`
	NextAction     *struct{ Type, URL string } `json:"next_action"`
}

type refund struct {
	ID, Reference, Currency, Status string

	ChargeID string `json:"charge_id"`
	Amount   int64
}

type failure struct {
	Code, Message string

	ChargeStatus string `json:"charge_status"`
}

type movement struct {
	EntryID        string `json:"entry_id"`
	Kind           string
	ChargeID       string `json:"charge_id"`
	Reference      string
	IdempotencyKey string `json:"idempotency_key"`
	Amount         int64
	Currency, At   string
}

func (r *env) send(ctx context.Context, method, path, key, body string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.url+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return do(r.client, req)
}

func do(client *http.Client, req *http.Request) (answer, error) {
	res, err := client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return answer{status: res.StatusCode, header: res.Header, body: string(text)}, err
}

func (r *env) post(t *testing.T, path, key, body string) answer {
	t.Helper()
	a, err := r.send(t.Context(), http.MethodPost, path, key, body)
	require.NoError(t, err)
	return a
}

func (r *env) get(t *testing.T, path string) answer {
	t.Helper()
	a, err := r.send(t.Context(), http.MethodGet, path, "", "")
	require.NoError(t, err)
	return a
}

func (r *env) pay(t *testing.T, key, body string) charge {
	t.Helper()
	a := r.post(t, "/v1/charges", key, body)
	require.Equal(t, http.StatusCreated, a.status, a.body)
	return a.charge(t)
}

func (r *env) lookup(t *testing.T, id string) charge {
	t.Helper()
	a := r.get(t, "/v1/charges/"+id)
	require.Equal(t, http.StatusOK, a.status, a.body)
	return a.charge(t)
}

func (r *env) find(t *testing.T, reference string) []charge {
	t.Helper()
	a := r.get(t, "/v1/charges?reference="+reference)
	require.Equal(t, http.StatusOK, a.status, a.body)
	return parse[struct{ Items []charge }](t, a.body).Items
}

func (r *env) ledger(t *testing.T) []movement {
	t.Helper()
	return parse[[]movement](t, r.get(t, "/v1/ledger").body)
}

func (r *env) becomes(t *testing.T, id, status string) charge {
	t.Helper()
	require.Eventually(t, func() bool { return r.lookup(t, id).Status == status }, patience, tick)
	return r.lookup(t, id)
}

// order is the body of a charge of 19.99 EUR.
func order(reference, token string) string {
	return `{"reference":"` + reference + `","amount":1999,"currency":"EUR","token":"` + token + `"}`
}

func manual(reference, token string) string {
	return strings.TrimSuffix(order(reference, token), "}") + `,"capture":"manual"}`
}
