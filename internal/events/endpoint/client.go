package endpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/platform/tracing"
)

const (
	// requestTime bounds a request, its response included; Standard Webhooks names 15 to 30 seconds.
	requestTime = 15 * time.Second
	// atOnce bounds the requests, and so the connections, to one endpoint.
	atOnce = 8
	// readAtMost bounds the bytes read from a response.
	readAtMost = 4 << 10
)

// Client sends to one endpoint, over connections that it shares with no other.
type Client struct {
	name    string
	url     string
	http    *http.Client
	signers []*standardwebhooks.Webhook
	encode  func(outbox.Event) []byte
	now     func() time.Time
}

// NewClient returns a client with the options' Encode, Now and Resolver, or an error for a secret of another form.
func NewClient(e Endpoint, o Options) (*Client, error) {
	c := &Client{name: e.Name, url: e.URL, encode: o.Encode, now: o.Now}
	for i, secret := range e.Secrets {
		signer, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return nil, fmt.Errorf("endpoint %s: secret %d is not whsec_ and base64", e.Name, i)
		}
		c.signers = append(c.signers, signer)
	}
	dialer := &net.Dialer{Timeout: requestTime, Resolver: o.Resolver}
	if !e.AllowPrivate {
		dialer.ControlContext = refusePrivate
	}
	c.http = &http.Client{
		// No Proxy: it would connect in place of the dialer, which refuses private addresses.
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, DisableCompression: true,
			MaxConnsPerHost: atOnce, MaxIdleConnsPerHost: atOnce, IdleConnTimeout: time.Minute,
			TLSHandshakeTimeout: requestTime, MaxResponseHeaderBytes: 16 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// Close ends idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Send makes one request. The attempt has an error unless the response was a 2xx. later is the response's Retry-After.
func (c *Client) Send(ctx context.Context, e outbox.Event) (a Attempt, later time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	ctx, span := outbox.Trace(ctx, e, "deliver", c.name)
	defer func() { span.End(outcome(a), a.Error != "") }()
	a = Attempt{Position: e.Position, OrderID: e.OrderID, EventID: e.ID, At: c.now()}
	began := time.Now() //nolint:forbidigo // measures, with the monotonic clock
	a.Status, later, a.Error = c.request(ctx, e, a.At)
	a.Error = outbox.Printable(a.Error)
	a.Took = time.Since(began) //nolint:forbidigo // measures, with the monotonic clock
	return a, later
}

// outcome is the status of an attempt, or that there was none.
func outcome(a Attempt) string {
	if a.Status == 0 {
		return "no response"
	}
	return strconv.Itoa(a.Status)
}

func (c *Client) request(ctx context.Context, e outbox.Event, now time.Time) (status int, later time.Duration, failure string) {
	r, err := c.signed(ctx, e, now)
	if err != nil {
		return 0, 0, err.Error()
	}
	response, err := c.http.Do(r)
	if err != nil {
		return 0, 0, reason(err)
	}
	body, _ := io.ReadAll(io.LimitReader(response.Body, readAtMost)) // an error in the body is ignored: only the status counts
	_ = response.Body.Close()
	if response.StatusCode/100 == 2 {
		return response.StatusCode, 0, ""
	}
	if response.StatusCode/100 == 3 {
		body = []byte("redirects are not followed")
	}
	return response.StatusCode, retryAfter(response, now), strings.TrimSuffix(response.Status+": "+strings.TrimSpace(string(body)), ": ")
}

// signed makes the request of Standard Webhooks, with a signature by each secret.
func (c *Client) signed(ctx context.Context, e outbox.Event, now time.Time) (*http.Request, error) {
	id, body := e.ID.String(), c.encode(e)
	signatures := make([]string, len(c.signers))
	for i, signer := range c.signers {
		var err error
		if signatures[i], err = signer.Sign(id, now, body); err != nil {
			return nil, fmt.Errorf("sign: %w", err)
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("the address: %s", reason(err))
	}
	// The client would send the body again on a connection that broke: whether it has arrived is open.
	r.GetBody = nil
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "paylatch")
	if span := tracing.Current(ctx).Traceparent(); span != "" {
		r.Header.Set("Traceparent", span)
	}
	r.Header.Set(standardwebhooks.HeaderWebhookID, id)
	r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	r.Header.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return r, nil
}

// reason is an error without the address, which may hold a secret.
func reason(err error) string {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "no response within " + requestTime.String()
	}
	return err.Error()
}
