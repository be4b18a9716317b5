package accounts

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/paylatch/paylatch/internal/platform/throttle"
	"github.com/paylatch/paylatch/webhooks"
)

// Certificates downloads the certificates that deliveries of webhooks name.

const (
	// maxCertificate bounds a downloaded certificate chain, in bytes.
	maxCertificate = 256 << 10
	// The rate and the burst of downloads for an account. Certificates that verified a
	// delivery are cached: any sender may name others.
	perSecond = 1
	burst     = 20
)

// Certificates fetches certificates. Concurrent requests for one address share a response.
type Certificates struct {
	client *http.Client
	now    func() time.Time
	limit  *throttle.KeyedLimiter
	shared singleflight.Group
}

// NewCertificates returns a store that fetches with a client, by a clock.
func NewCertificates(client *http.Client, now func() time.Time) *Certificates {
	return &Certificates{client: client, now: now, limit: throttle.New(perSecond, burst)}
}

// Fetch returns the chain at an address, for an account. See webhooks.Config.
func (c *Certificates) Fetch(ctx context.Context, account, url string) ([]byte, error) {
	chain, err, _ := c.shared.Do(account+" "+url, func() (any, error) {
		if c.limit.Reserve(account, c.now()) > 0 {
			return nil, fmt.Errorf("%w: too many certificates are requested", webhooks.ErrUnavailable)
		}
		return c.fetch(ctx, url)
	})
	if err != nil {
		return nil, err //nolint:wrapcheck // it is that of the function above
	}
	pem, _ := chain.([]byte)
	return pem, nil
}

func (c *Certificates) fetch(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("fetch a certificate: %w", err)
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w: fetch a certificate: %w", webhooks.ErrUnavailable, err)
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case missing(resp.StatusCode):
		return nil, fmt.Errorf("no certificate: its address responds with %d", resp.StatusCode)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%w: a certificate's address responds with %d", webhooks.ErrUnavailable, resp.StatusCode)
	}
	pem, err := io.ReadAll(io.LimitReader(resp.Body, maxCertificate))
	if err != nil {
		return nil, fmt.Errorf("%w: read a certificate: %w", webhooks.ErrUnavailable, err)
	}
	return pem, nil
}

// missing reports whether a status means that there is nothing at an address,
// permanently.
func missing(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return status >= http.StatusBadRequest && status < http.StatusInternalServerError
}
