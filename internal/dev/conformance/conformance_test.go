package conformance_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/paylatch/paylatch/internal/dev/conformance"
	"github.com/paylatch/paylatch/internal/dev/sandbox"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/standard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	apiKey     = "key_of_the_account"
	hookSecret = "whsec_c2FuZGJveC10ZXN0LXNlY3JldC0wMTIzNDU2Nzg5"
	// wait is the time limit for events that never come, enough the time limit for events that must come on a busy machine.
	wait, enough = 3 * time.Second, 5 * time.Minute
)

// setting is a sandbox, and the handlers between it and the checks.
type setting struct {
	// front stands before the sandbox, sender before its webhooks' receiver; nil: nothing does.
	front  func(t *testing.T, sandbox http.Handler) http.Handler
	sender func(http.RoundTripper) http.RoundTripper
	// secret signs the webhooks; empty: the expected secret.
	secret string
	tokens conformance.Tokens
	wait   time.Duration
}

// results runs the checks against a sandbox.
func results(t *testing.T, s setting) map[string]conformance.Result {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	hooks := &http.Client{Transport: transport}
	if s.sender != nil {
		hooks.Transport = s.sender(transport)
	}
	if s.secret == "" {
		s.secret = hookSecret
	}
	box, err := sandbox.New(sandbox.Options{
		APIKey: apiKey, WebhookURL: "http://" + l.Addr().String(), WebhookSecret: s.secret, Client: hooks,
		Delays: sandbox.Delays{RetryMin: 20 * time.Millisecond},
	})
	require.NoError(t, err)
	running(t, box)
	var handler http.Handler = box
	if s.front != nil {
		handler = s.front(t, box)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	verifier, err := standard.New(webhooks.Config{Secrets: []string{hookSecret}})
	require.NoError(t, err)
	if s.tokens.Success == "" {
		s.tokens = conformance.Tokens{Success: "tok_success", Decline: "tok_decline", Redirect: "tok_redirect"}
	}
	all := map[string]conformance.Result{}
	err = conformance.Run(t.Context(), conformance.Options{
		URL: server.URL + "/", APIKey: apiKey, Tokens: s.tokens, Currency: "EUR", Listener: l, Verifier: verifier,
		Timeout: enough, Wait: s.wait, Client: server.Client(), Now: time.Now,
	}, func(r conformance.Result) { all[r.Check] = r })
	require.NoError(t, err)
	return all
}

// running runs a sandbox until the test ends.
func running(t *testing.T, box *sandbox.Server) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- box.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ran)
		require.NoError(t, box.Close())
	})
}

func TestTheSandboxPasses(t *testing.T) {
	t.Parallel()
	all := results(t, setting{wait: enough})
	require.NotEmpty(t, all)
	for name, r := range all {
		require.Equal(t, conformance.Passed, r.Outcome, "%s: %+v", name, r)
	}
	require.Equal(t, "with holds, partial captures, cancels, refunds; without nothing more", all["capabilities"].Note)
}

// A charge that is pending at first counts as it ends.
func TestAChargeThatTakesLonger(t *testing.T) {
	t.Parallel()
	all := results(t, setting{wait: enough, tokens: conformance.Tokens{Success: "tok_async_success"}})
	require.Equal(t, conformance.Passed, all["charge"].Outcome, "%+v", all["charge"])
	require.Equal(t, conformance.Passed, all["webhook of a charge"].Outcome, "%+v", all["webhook of a charge"])
	require.Equal(t, conformance.Result{Check: "decline", Outcome: conformance.Skipped, Note: "--token-decline is empty"}, all["decline"])
	require.Equal(t, conformance.Skipped, all["webhook of a decline"].Outcome)
}

// A feature that a provider does not offer is no failure, and checks that need it are skipped.
func TestAProviderOfLess(t *testing.T) {
	t.Parallel()
	all := results(t, setting{wait: enough, front: refusing(manual, refunding)})
	skipped := map[string]bool{}
	for name, r := range all {
		require.NotEqual(t, conformance.Failed, r.Outcome, "%s: %+v", name, r)
		skipped[name] = r.Outcome == conformance.Skipped
	}
	for _, name := range []string{
		"manual capture", "capture", "partial capture", "capture of too much", "refund", "refund, same key", "refund of too much", "webhook of a refund",
	} {
		require.True(t, skipped[name], name)
	}
	require.False(t, skipped["cancel"], "a charge that waits for its customer can be cancelled")
	require.Equal(t, "with cancels; without holds, refunds", all["capabilities"].Note)
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	client := server.Client()
	server.Close()
	err := conformance.Run(t.Context(), conformance.Options{URL: server.URL, Client: client, Now: time.Now, Timeout: enough}, func(conformance.Result) {
		require.Fail(t, "a check has run")
	})
	require.ErrorIs(t, err, conformance.ErrUnreachable)
}

// A provider that repeats the credential does not have it printed.
func TestTheKeyIsNotPrinted(t *testing.T) {
	t.Parallel()
	all := results(t, setting{wait: wait, front: func(*testing.T, http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			_, _ = w.Write([]byte(r.Header.Get("Authorization")))
		})
	}})
	require.Equal(t, "418 Bearer (the API key)", all["charge"].Got)
	for name, r := range all {
		require.NotContains(t, r.Got+r.Note, apiKey, name)
	}
}
