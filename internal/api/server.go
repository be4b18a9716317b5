package api

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/rs/zerolog"
)

// NewHTTPServer returns a server with every limit set, so that no slow or silent peer can hold a connection for ever. Its
// own errors go to log.
func NewHTTPServer(addr string, handler http.Handler, log zerolog.Logger) *http.Server {
	return &http.Server{
		Addr:              addr,
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      90 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    32 << 10,
		// OPTIONS * goes through the handler like everything else.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(zerolog.NewSlogHandler(log), slog.LevelWarn),
	}
}
