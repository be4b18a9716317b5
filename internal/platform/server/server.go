// Package server serves HTTP until it is stopped.
package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"
)

// CheckAddress validates a listen address.
func CheckAddress(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		if _, unreadable := strconv.ParseUint(port, 10, 16); unreadable != nil {
			err = &net.AddrError{Err: "the port must be a number up to 65535", Addr: address}
		}
	}
	return err
}

// Listen listens at an address.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return l, nil
}

// Until serves on l until ctx ends, then waits for requests in progress, up to
// grace. It returns nil if all of them ended. Requests have the values of ctx, and
// outlive it, unless s has a context for them.
func Until(ctx context.Context, s *http.Server, l net.Listener, grace time.Duration) error {
	if s.BaseContext == nil {
		s.BaseContext = func(net.Listener) context.Context { return context.WithoutCancel(ctx) }
	}
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

// OnlyHere reports whether only this machine can reach an address.
func OnlyHere(listen string) bool {
	host, _, _ := net.SplitHostPort(listen)
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// URL returns the URL on this machine of a server that listens at an address. A server at :: listens at all addresses of IPv4, too.
func URL(listen string) string {
	host, port, _ := net.SplitHostPort(listen)
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}
