package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/setup/config"
)

// An answer is not cut off while its command may still be under way.
func TestNewServerWriteTimeout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ wait, lease, least time.Duration }{
		{5 * time.Second, 30 * time.Second, 90 * time.Second},
		{2 * time.Minute, 30 * time.Second, 2*time.Minute + 31*time.Second},
		{5 * time.Second, 5 * time.Minute, 5*time.Minute + 6*time.Second},
	} {
		s := newServer(&config.Config{Idempotency: config.Idempotency{Wait: c.wait, Lease: c.lease}}, http.NotFoundHandler(), zerolog.Nop())
		require.GreaterOrEqual(t, s.WriteTimeout, c.least)
		require.Less(t, s.WriteTimeout, c.least+time.Minute, "and nobody holds a connection for ever")
	}
}

// Where TLS is shown by the configuration, each response has browsers stay with it. dev over plain HTTP goes on as it is.
func TestStrictTransport(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg  config.Config
		want string
	}{
		"plain":                {cfg: config.Config{Listen: "127.0.0.1:8080"}},
		"plain public address": {cfg: config.Config{Accounts: []config.Account{{PublicURL: "http://pay.example/webhooks/a"}}}},
		"its own":              {config.Config{TLS: config.TLS{CertFile: "a.pem", KeyFile: "a.key"}}, "max-age=31536000"},
		"a proxy's, of the console": {
			config.Config{Console: config.Console{OIDC: config.OIDC{RedirectURL: "https://pay.example/support/sign-in/callback"}}}, "max-age=31536000",
		},
		"a proxy's, of webhooks": {config.Config{Accounts: []config.Account{{PublicURL: "https://pay.example/webhooks/a"}}}, "max-age=31536000"},
	} {
		w := httptest.NewRecorder()
		newServer(&c.cfg, http.NotFoundHandler(), zerolog.Nop()).Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/support", nil))
		require.Equal(t, c.want, w.Header().Get("Strict-Transport-Security"), name)
	}
}

// The cookies go over plain HTTP in dev on this machine alone, and never where there is TLS.
func TestPlainCookies(t *testing.T) {
	t.Parallel()
	here, tls := config.Config{Listen: "127.0.0.1:8080"}, config.Config{Listen: "127.0.0.1:8080", TLS: config.TLS{CertFile: "a.pem", KeyFile: "a.key"}}
	require.True(t, plainCookies(&here, true))
	require.False(t, plainCookies(&here, false))
	require.False(t, plainCookies(&tls, true))
	require.False(t, plainCookies(&config.Config{Listen: "0.0.0.0:8080"}, true))
}
