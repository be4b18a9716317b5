package main

import (
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/config"
)

// commitTime bounds the reads and commits of a command, beside its calls, also if the
// database does not respond.
const commitTime = 20 * time.Second

// newServer gives a response the time of its command: that waits for an earlier one,
// and all its calls to a provider end within its lease.
func newServer(cfg *config.Config, handler http.Handler, log zerolog.Logger) *http.Server {
	s := api.NewHTTPServer(cfg.Listen, handler, log)
	s.WriteTimeout = max(s.WriteTimeout, cfg.Idempotency.Wait+cfg.Idempotency.Lease+commitTime)
	return s
}
