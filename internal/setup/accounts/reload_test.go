package accounts_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/platform/metrics"
	"github.com/paylatch/paylatch/internal/setup/accounts"
	"github.com/paylatch/paylatch/internal/setup/config"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/standard"
)

const (
	oldSecret = "whsec_b2xkb2xkb2xkb2xkb2xkb2xkb2xkb2xkb2xkb2xkb2w="
	newSecret = "whsec_bmV3bmV3bmV3bmV3bmV3bmV3bmV3bmV3bmV3bmV3bmU="
	head      = "environment: test\ndatabase_url: postgres://localhost/p\nencryption_keys: [{id: a, key: ZTJlZTJlZTJlZTJlZTJlZTJlZTJlZTJlZTJlZTJlZTI=}]\n" +
		"auth: {hs256_secret: 0123456789abcdef0123456789abcdef}\ndefault_account: shop\naccounts:\n"
	shop    = "  - {name: shop, kind: sandbox, base_url: 'http://127.0.0.1:9', webhook_secrets: [" + oldSecret + "]}\n"
	partner = "  - {name: partner, kind: standard, webhook_secrets: [" + oldSecret + "]}\n"
)

func load(t *testing.T, text string) *config.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "paylatch.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	c, err := config.Load(file, nil)
	require.NoError(t, err)
	return c
}

// begun are the names that a Set has passed to Begun.
type begun struct{ names []string }

func newSet(t *testing.T, text string) (*accounts.Set, *begun) {
	t.Helper()
	b := &begun{}
	s, err := accounts.New(load(t, text), accounts.Options{
		Client: &http.Client{}, Watch: accounts.Unwatched(time.Now), Begun: func(names []string) { b.names = names },
		Fingerprint: slices.Clone[[]byte],
	})
	require.NoError(t, err)
	return s, b
}

// TestWebhooksAreCountedFromZero: the counters of an account's rare webhooks are 0 from the start, or from the reload that adds the account.
func TestWebhooksAreCountedFromZero(t *testing.T) {
	t.Parallel()
	watch := accounts.Unwatched(time.Now)
	none := func(context.Context) (int64, error) { return 0, nil }
	watch.Metrics = metrics.New(metrics.Options{
		Now: time.Now, Keys: none, Parked: none, NotesLost: func() int64 { return 0 },
		Waiting:  func(context.Context) (map[string]metrics.Waiting, error) { return nil, nil },
		Disputes: func(context.Context) (map[string]metrics.Disputed, error) { return nil, nil },
		Overdue:  func(context.Context) (map[string]time.Duration, error) { return nil, nil },
	})
	counted := func() string {
		w := httptest.NewRecorder()
		watch.Metrics.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return w.Body.String()
	}
	s, err := accounts.New(load(t, head+shop), accounts.Options{Client: &http.Client{}, Watch: watch, Begun: func([]string) {}})
	require.NoError(t, err)
	require.Contains(t, counted(), `paylatch_webhooks_total{account="shop",verdict="conflict"} 0`)
	require.NotContains(t, counted(), `account="partner"`)
	_, err = s.Reload(load(t, head+shop+partner))
	require.NoError(t, err)
	require.Contains(t, counted(), `paylatch_webhooks_total{account="partner",verdict="conflict"} 0`)
}

func (b *begun) reload(t *testing.T, s *accounts.Set, text string) accounts.Changes {
	t.Helper()
	changes, err := s.Reload(load(t, text))
	require.NoError(t, err)
	return changes
}

// proves reports whether a delivery that is signed by a secret is proven for an account.
func proves(t *testing.T, s *accounts.Set, account, secret string) bool {
	t.Helper()
	signer, err := standard.New(webhooks.Config{Secrets: []string{secret}})
	require.NoError(t, err)
	d := webhooks.Delivery{Method: http.MethodPost, Header: http.Header{"Webhook-Id": {"evt_1"}}, ReceivedAt: time.Now(), Body: []byte(`{"type":"x","data":{}}`)}
	require.NoError(t, signer.Sign(&d))
	_, err = s.Receiving.Get(account).Verifier.Verify(t.Context(), d)
	require.True(t, err == nil || errors.Is(err, webhooks.ErrSignatureInvalid), "%v", err)
	return err == nil
}

func TestReloadTheSame(t *testing.T) {
	t.Parallel()
	s, b := newSet(t, head+shop+partner)
	was, receives := s.Charged.Get("shop").Provider, s.Receiving.Get("shop").Verifier
	require.Equal(t, accounts.Changes{}, b.reload(t, s, head+shop+partner))
	require.Same(t, was, s.Charged.Get("shop").Provider, "it keeps its circuit breaker and its limit")
	require.Same(t, receives, s.Receiving.Get("shop").Verifier)
	require.Nil(t, b.names)
}

func TestReloadRotatesASecret(t *testing.T) {
	t.Parallel()
	s, b := newSet(t, head+shop+partner)
	calls, proof := s.Charged.Get("shop").Provider, s.Rejected.Get("partner").Fingerprint
	both := strings.Replace(partner, oldSecret, oldSecret+", "+newSecret, 1)
	require.False(t, proves(t, s, "partner", newSecret))
	require.Equal(t, accounts.Changes{Changed: []string{"partner"}}, b.reload(t, s, head+shop+both))
	require.True(t, proves(t, s, "partner", newSecret))
	require.True(t, proves(t, s, "partner", oldSecret))
	require.NotEqual(t, proof, s.Rejected.Get("partner").Fingerprint, "what was rejected is tried again")
	require.Equal(t, s.Rejected.Get("partner").Fingerprint, s.Receiving.Get("partner").Fingerprint)
	require.Same(t, s.Rejected.Get("partner").Verifier, s.Receiving.Get("partner").Verifier)
	require.Same(t, s.Receiving.Get("partner").Verifier, s.Readers.Get("partner"))
	require.Same(t, calls, s.Charged.Get("shop").Provider)

	require.Equal(t, accounts.Changes{Changed: []string{"partner"}}, b.reload(t, s, head+shop+strings.Replace(partner, oldSecret, newSecret, 1)))
	require.False(t, proves(t, s, "partner", oldSecret))
}

func TestReloadAddsAnAccount(t *testing.T) {
	t.Parallel()
	s, b := newSet(t, head+shop)
	second := strings.Replace(shop, "name: shop", "name: second", 1)
	card := "  - {name: card, kind: stripe, api_key: k, webhook_secrets: [s]}\n"
	require.Equal(t, accounts.Changes{Added: []string{"second", "card"}}, b.reload(t, s, head+shop+second+card))
	require.Equal(t, []string{"shop", "second", "card"}, b.names, "a restored database holds its pays, too")
	require.NotNil(t, s.Charged.Get("second").Provider)
	require.True(t, proves(t, s, "second", oldSecret))
	_, marks := s.Reference("card", "0192")
	require.NotEmpty(t, marks)
}

// The account has the properties of its kind: books that can be read, their delay, and whether they have marks.
func TestBooksOfAccounts(t *testing.T) {
	t.Parallel()
	lemon := "  - {name: lemon, kind: lemonsqueezy, api_key: k, store_id: 1, variant_id: 2, store_currency: EUR, test_payments: true, webhook_secrets: [secret1]}\n"
	paddle := "  - {name: paddle, kind: paddle, api_key: pdl_sdbx_1, webhook_secrets: [pdl_ntfset_1]}\n"
	s, _ := newSet(t, head+shop+lemon+paddle)
	for name, marks := range map[string]gateway.Marks{"lemon": gateway.MarksNone, "paddle": gateway.MarksByBrowser} {
		a := s.Charged.Get(name)
		require.NotNil(t, a.Books, name)
		require.Equal(t, time.Minute, a.BooksLag, name)
		require.Equal(t, marks, a.BooksMarks, name)
		require.Zero(t, a.BooksOverlap, name)
	}
	mollie := "  - {name: mollie, kind: mollie, api_key: test_1, public_url: \"https://pay.example\"}\n"
	s, _ = newSet(t, head+shop+mollie)
	require.GreaterOrEqual(t, s.Charged.Get("mollie").BooksOverlap, 35*24*time.Hour, "a monthly settlement")
}

func TestReloadPauses(t *testing.T) {
	t.Parallel()
	s, b := newSet(t, head+shop)
	paused := func(what string) string {
		return head + strings.Replace(shop, "kind:", "enabled: "+what+", kind:", 1)
	}
	for _, c := range []struct {
		enabled               string
		pays, hears, receives bool
	}{{"webhooks", false, true, true}, {"pays", true, false, false}, {"all", true, true, true}} {
		require.Equal(t, accounts.Changes{Changed: []string{"shop"}}, b.reload(t, s, paused(c.enabled)))
		a := s.Charged.Get("shop")
		require.Equal(t, c.pays, !a.Paused, c.enabled)
		require.Equal(t, c.hears, a.Hears, c.enabled)
		require.Equal(t, c.receives, !s.Receiving.Get("shop").Paused, c.enabled)
		require.NotNil(t, a.Provider, "what was begun goes on")
		require.Equal(t, []string{"shop"}, b.names)
	}
}

// TestReloadTakesNothingAway: an account keeps its abilities until the next start.
func TestReloadTakesNothingAway(t *testing.T) {
	t.Parallel()
	stripe := "  - {name: card, kind: stripe, api_key: k, webhook_secrets: [s]}\n"
	for name, c := range map[string]struct {
		now  string
		want []string
	}{
		"gone":        {"", []string{"accounts.card"}},
		"kind":        {"  - {name: card, kind: standard, webhook_secrets: [" + oldSecret + "]}\n", []string{"accounts.card"}},
		"no calls":    {"  - {name: card, kind: stripe, webhook_secrets: [s]}\n", []string{"accounts.card"}},
		"no webhooks": {"  - {name: card, kind: stripe, api_key: k}\n", []string{"accounts.card"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, b := newSet(t, head+shop+stripe)
			charged, receives := s.Charged.All(), s.Receiving.All()
			require.Equal(t, accounts.Changes{Restart: c.want}, b.reload(t, s, head+shop+c.now))
			require.Equal(t, slices.Sorted(maps.Keys(charged)), slices.Sorted(maps.Keys(s.Charged.All())))
			require.Same(t, charged["card"].Provider, s.Charged.Get("card").Provider)
			require.Same(t, receives["card"].Verifier, s.Receiving.Get("card").Verifier)
			require.Empty(t, b.reload(t, s, head+shop+stripe).Restart, "as it was")
		})
	}
}

// TestReloadOfARotatedFile reads the certificates again that an account names.
func TestReloadOfARotatedFile(t *testing.T) {
	t.Parallel()
	roots := filepath.Join(t.TempDir(), "roots.pem")
	server := httptest.NewTLSServer(nil)
	server.Close()
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	require.NoError(t, os.WriteFile(roots, block, 0o600))
	text := head + shop + "  - {name: pp, kind: paypal, client_id: c, client_secret: s, webhook_id: w, cert_roots: " + roots + "}\n"
	s, b := newSet(t, text)
	require.Equal(t, accounts.Changes{}, b.reload(t, s, text))
	require.NoError(t, os.WriteFile(roots, slices.Concat(block, block), 0o600))
	require.Equal(t, accounts.Changes{Changed: []string{"pp"}}, b.reload(t, s, text))

	c := load(t, text)
	require.NoError(t, os.Remove(roots))
	was := s.Receiving.Get("shop").Verifier
	c.Accounts[0].WebhookSecrets = []config.Secret{newSecret}
	_, err := s.Reload(c)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Same(t, was, s.Receiving.Get("shop").Verifier, "nothing of it is in use")
}

func TestReloadNamesWhatNeedsAStart(t *testing.T) {
	t.Parallel()
	s, b := newSet(t, head+shop)
	changes := b.reload(t, s, "listen: 127.0.0.1:1\nlog: {level: warn}\n"+strings.Replace(head, "localhost", "127.0.0.1", 1)+shop)
	require.Equal(t, accounts.Changes{Restart: []string{"listen", "database_url", "log"}}, changes)
}

func TestReloadOn(t *testing.T) {
	t.Parallel()
	s, _ := newSet(t, head+shop)
	before := s.Charged.Get("shop")
	changed := load(t, head+strings.Replace(shop, "kind:", "offered: true, kind:", 1)+strings.Replace(shop, "name: shop", "name: second", 1))
	changed.Listen = "elsewhere"
	mistakes := config.ValidationErrors{"accounts[0].kind: one", "listen: two"}
	var after []gateway.Account
	var taken []bool
	var log bytes.Buffer
	ctx, end := context.WithCancel(t.Context())
	signals := make(chan os.Signal, 1)
	signals <- syscall.SIGHUP
	s.ReloadOn(ctx, signals, func() (*config.Config, error) {
		after = append(after, s.Charged.Get("shop"))
		signals <- syscall.SIGHUP
		switch len(after) {
		case 1:
			return nil, mistakes
		case 2:
			return changed, nil
		}
		end()
		return nil, errors.New("the file is gone")
	}, func(ok bool) { taken = append(taken, ok) }, zerolog.New(&log))
	require.Equal(t, []bool{false, true, false}, taken[:3], "what comes with the end may be read, too")
	require.Equal(t, before, after[1], "a configuration with mistakes changes nothing")
	require.True(t, after[2].Offered)
	require.True(t, s.Charged.Get("shop").Offered)
	require.Contains(t, log.String(), `"mistakes":["accounts[0].kind: one","listen: two"]`)
	require.Contains(t, log.String(), `"mistakes":["the file is gone"]`)
	require.Contains(t, log.String(), `"added":["second"],"changed":["shop"]`)
	require.Contains(t, log.String(), `"keys":["listen"]`)
	require.NotContains(t, log.String(), oldSecret)
}
