package main

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/platform/server"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// commitTime bounds the reads and commits of a command, beside its calls, also if the
// database does not respond.
const commitTime = 20 * time.Second

// newServer gives a response the time of its command: that waits for an earlier one,
// and all its calls to a provider end within its lease.
func newServer(cfg *config.Config, handler http.Handler, log zerolog.Logger) *http.Server {
	if overTLS(cfg) {
		handler = strictTransport(handler)
	}
	s := api.NewHTTPServer(cfg.Listen, handler, log)
	s.WriteTimeout = max(s.WriteTimeout, cfg.Idempotency.Wait+cfg.Idempotency.Lease+commitTime)
	return s
}

// overTLS reports whether, by the configuration, browsers and providers reach this service over TLS, its own or a proxy's.
func overTLS(cfg *config.Config) bool {
	return cfg.TLS.Set() || strings.HasPrefix(cfg.PublicConsole(), "https://") ||
		slices.ContainsFunc(cfg.Accounts, func(a config.Account) bool { return strings.HasPrefix(a.PublicURL, "https://") })
}

// strictTransport has browsers use TLS alone for this host for a year (RFC 6797). They obey it only in a response over TLS.
func strictTransport(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		next.ServeHTTP(w, r)
	})
}

// plainCookies reports whether the console's cookies may go over plain HTTP: in dev, to this machine alone.
func plainCookies(cfg *config.Config, dev bool) bool {
	return dev && server.OnlyHere(cfg.Listen) && !cfg.TLS.Set()
}
