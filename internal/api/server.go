package api

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/rs/zerolog"
)

// NewHTTPServer returns a server with every limit set, so that no slow or silent
// peer can hold a connection for ever. The limit on writing is above the longest
// wait that a caller may ask for. What the server itself has to say goes to log.
func NewHTTPServer(addr string, handler http.Handler, log zerolog.Logger) *http.Server {
	return &http.Server{
		Addr:              addr,
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      90 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    32 << 10,
		// OPTIONS * is answered as everything else is.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(zerolog.NewSlogHandler(log), slog.LevelWarn),
	}
}
