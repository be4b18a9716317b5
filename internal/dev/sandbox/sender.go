package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/standard"
)

// The sender delivers the sandbox's events to its one webhook address: signed as Standard Webhooks, again with
// back-off until a 2xx.

const (
	maxDeliveries = 256 // under way at once
	maxAckBody    = 64 << 10
)

// SenderOptions configure a Sender.
type SenderOptions struct {
	// URL gets every event; Secret (whsec_…) signs it.
	URL, Secret string
	// Client sends; nil: one that follows no redirects.
	Client *http.Client
	// Now is the clock of Until. Signed is the clock of the signatures.
	Now, Signed func() time.Time
	// Until waits for a time, and returns early, with the error of ctx, when that ends.
	Until func(ctx context.Context, at time.Time) error
	// Log receives the error of each delivery that failed and will be retried.
	Log func(error)
	// Timeout bounds one delivery; RetryMin is the wait after the first one that failed, which doubles up to RetryMax.
	Timeout, RetryMin, RetryMax time.Duration
}

// Event is a webhook to deliver: the same bytes in every try.
type Event struct {
	ID   string `json:"id"`
	Body string `json:"body"`
	// Copies is how often it is delivered, if more than once.
	Copies int `json:"copies,omitempty"`
}

// Sender delivers events to the one webhook address. It is safe for concurrent use.
type Sender struct {
	opts   SenderOptions
	signer webhooks.Signer
	slots  chan struct{}
}

// NewSender returns an error for options that no webhook can be sent with.
func NewSender(o SenderOptions) (*Sender, error) {
	if _, err := url.ParseRequestURI(o.URL); err != nil {
		return nil, fmt.Errorf("webhook URL: %w", err)
	}
	signer, err := standard.New(webhooks.Config{Secrets: []string{o.Secret}})
	if err != nil {
		return nil, fmt.Errorf("webhook secret: %w", err)
	}
	if o.Client == nil {
		o.Client = newClient()
	}
	return &Sender{opts: o, signer: signer, slots: make(chan struct{}, maxDeliveries)}, nil
}

// Close closes the connections that are idle.
func (s *Sender) Close() { s.opts.Client.CloseIdleConnections() }

func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			MaxIdleConnsPerHost: maxDeliveries,
			IdleConnTimeout:     time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Deliver returns nil once every copy of the event was received. Of three copies two
// are sent at once, so that the receiver gets the duplicate in parallel and afterwards.
func (s *Sender) Deliver(ctx context.Context, ev Event) error {
	if ev.Copies < 2 {
		return s.persist(ctx, ev)
	}
	errs := make([]error, ev.Copies-1)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = s.persist(ctx, ev) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return s.persist(ctx, ev)
}

// persist retries until a 2xx or the end of ctx.
func (s *Sender) persist(ctx context.Context, ev Event) error {
	for pause := s.opts.RetryMin; ; pause = min(2*pause, s.opts.RetryMax) {
		err := s.try(ctx, ev)
		if err == nil || ctx.Err() != nil {
			return err
		}
		s.opts.Log(fmt.Errorf("deliver event %s: %w", ev.ID, err))
		if err := s.opts.Until(ctx, s.opts.Now().Add(jitter(pause))); err != nil {
			return err
		}
	}
}

func (s *Sender) try(ctx context.Context, ev Event) error {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // the caller needs no more than that
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	req, err := s.request(ctx, ev)
	if err != nil {
		return err
	}
	res, err := s.opts.Client.Do(req)
	if err != nil {
		return fmt.Errorf("send: %w", err)
	}
	defer res.Body.Close() //nolint:errcheck // only read
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxAckBody))
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("answered with %s", res.Status)
	}
	return nil
}

// request signs each try anew: a receiver rejects an old timestamp.
func (s *Sender) request(ctx context.Context, ev Event) (*http.Request, error) {
	d := webhooks.Delivery{
		Method: http.MethodPost, URL: s.opts.URL, Body: []byte(ev.Body), ReceivedAt: s.opts.Signed(),
		Header: http.Header{"Content-Type": {"application/json"}, "Webhook-Id": {ev.ID}},
	}
	if err := s.signer.Sign(&d); err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, d.Method, d.URL, strings.NewReader(ev.Body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.Header = d.Header
	return req, nil
}

func jitter(pause time.Duration) time.Duration {
	return pause/2 + rand.N(pause/2+1) //nolint:gosec // it is no secret
}
