package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"time"
)

type healthcheckCmd struct {
	Timeout time.Duration `default:"3s" help:"How long to wait for the answer (${default})."`
}

// Run requests /healthz at its configured address.
func (c *healthcheckCmd) Run(ctx context.Context, a *app) error {
	cfg, err := a.read()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	scheme := "http"
	if cfg.TLS.Set() && cfg.OperationsListen == "" {
		scheme = "https"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+dialable(cmp.Or(cfg.OperationsListen, cfg.Listen))+"/healthz", nil)
	if err != nil {
		return fmt.Errorf("healthcheck: %w", err)
	}
	// No proxy, and whatever certificate: the service is on this machine.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // nothing is sent
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("healthcheck: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("healthcheck: the service answered with %s", resp.Status)
	}
	return nil
}

// dialable replaces an address of all interfaces by one to dial.
func dialable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	switch host {
	case "", "0.0.0.0":
		host = "127.0.0.1"
	case "::":
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}
