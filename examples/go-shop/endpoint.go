package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/client"
)

const (
	// maxBody bounds a delivery, in bytes.
	maxBody = 1 << 20
	// actTime bounds a transaction: paylatch waits 15 seconds for a response.
	actTime = 10 * time.Second
	// stopTime is what is left to requests at the end.
	stopTime = 15 * time.Second
)

// handler takes deliveries of an endpoint.
type handler struct {
	db      *pgxpool.Pool
	secrets []string
}

// newHandler returns an error for secrets by which nothing can be verified.
func newHandler(db *pgxpool.Pool, secrets []string) (*handler, error) {
	if _, err := client.ParseEvent(secrets, http.Header{}, nil); !errors.Is(err, client.ErrNotGenuine) {
		return nil, fmt.Errorf("SHOP_SECRETS: %w", err)
	}
	return &handler{db, secrets}, nil
}

// ServeHTTP answers 204 once the event is on disk with its effect, or was before. All else has paylatch deliver it again, by the
// endpoint's schedule.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The signature is over these bytes: JSON that was read and written anew has others.
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		status := http.StatusBadRequest
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, "the body can't be read", status)
		return
	}
	e, err := client.ParseEvent(h.secrets, r.Header, body)
	if errors.Is(err, client.ErrNotGenuine) {
		http.Error(w, "not genuine", http.StatusBadRequest)
		return
	}
	if err != nil { // paylatch has signed what this program can't read
		slog.Error("a delivery can't be read", "error", err)
		http.Error(w, "it can't be read", http.StatusInternalServerError)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), actTime)
	defer cancel()
	err = pgx.BeginFunc(ctx, h.db, func(tx pgx.Tx) error { return act(ctx, tx, e) })
	if err != nil {
		slog.Warn("an event was not acted on; it comes again", "event", e.ID, "error", err)
		http.Error(w, "not acted on", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// serve takes deliveries at POST /events until ctx ends, and then finishes those under way.
func serve(ctx context.Context, address string, h *handler) error {
	mux := http.NewServeMux()
	mux.Handle("POST /events", h)
	server := &http.Server{Addr: address, Handler: mux, ReadTimeout: actTime, IdleTimeout: time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	slog.Info("deliveries are taken", "address", address)
	select {
	case err := <-failed:
		return fmt.Errorf("listen at %s: %w", address, err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return nil
}
