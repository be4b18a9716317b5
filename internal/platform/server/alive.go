package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
)

// Alive requests /healthz of a service on this machine that listens at an address, with or without TLS. It returns nil if the
// service answers that it is alive.
func Alive(ctx context.Context, listen string, secured bool) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, At(listen, secured)+"/healthz", nil)
	if err != nil {
		return fmt.Errorf("healthcheck: %w", err)
	}
	// The client uses no proxy and accepts any certificate, since the service is on this machine.
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
