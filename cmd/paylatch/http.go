package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/config"
)

// checkAddress validates the listen address of an option.
func checkAddress(option, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		if _, unreadable := strconv.ParseUint(port, 10, 16); unreadable != nil {
			err = &net.AddrError{Err: "the port must be a number up to 65535", Addr: address}
		}
	}
	if err != nil {
		return usageError{fmt.Errorf("%s: %w", option, err)}
	}
	return nil
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return l, nil
}

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

// serveUntil serves on l until ctx ends, then waits for requests in progress, up to
// grace. It returns nil if all of them ended.
func serveUntil(ctx context.Context, s *http.Server, l net.Listener, grace time.Duration) error {
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := s.Shutdown(rest)
	if err != nil {
		err = errors.Join(fmt.Errorf("requests were cut off: %w", err), s.Close())
	}
	if served := <-failed; err == nil && !errors.Is(served, http.ErrServerClosed) {
		err = fmt.Errorf("serve: %w", served)
	}
	return err
}

// baseURL returns the URL on this machine of a server that listens at an address.
func baseURL(listen string) string {
	host, port, _ := net.SplitHostPort(listen)
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}
