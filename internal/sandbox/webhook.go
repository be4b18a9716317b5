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

const (
	maxDeliveries = 256 // under way at once
	maxAckBody    = 64 << 10
)

// sender delivers events to the one webhook address.
type sender struct {
	url    string
	signer webhooks.Signer
	client *http.Client
	now    func() time.Time
	log    func(error)
	delays Delays
	slots  chan struct{}
}

// ErrWebhook is returned for options that no webhook can be sent with.
var ErrWebhook = errors.New("no webhook can be sent")

func newSender(o Options) (*sender, error) {
	if o.WebhookURL == "" {
		return nil, nil //nolint:nilnil // no address, no sender: that is not an error
	}
	if _, err := url.ParseRequestURI(o.WebhookURL); err != nil {
		return nil, fmt.Errorf("%w: webhook URL: %w", ErrWebhook, err)
	}
	signer, err := standard.New(webhooks.Config{Secrets: []string{o.WebhookSecret}})
	if err != nil {
		return nil, fmt.Errorf("%w: webhook secret: %w", ErrWebhook, err)
	}
	if o.Client == nil {
		o.Client = newClient()
	}
	return &sender{
		url: o.WebhookURL, signer: signer, client: o.Client, now: o.Now, log: o.Log,
		delays: o.Delays, slots: make(chan struct{}, maxDeliveries),
	}, nil
}

func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			MaxIdleConnsPerHost: maxDeliveries,
			IdleConnTimeout:     time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// deliver returns nil once every copy of the event was received. Of three copies two
// are sent at once, so that the receiver gets the duplicate in parallel and afterwards.
func (s *sender) deliver(ctx context.Context, ev event) error {
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
func (s *sender) persist(ctx context.Context, ev event) error {
	for pause := s.delays.RetryMin; ; pause = min(2*pause, s.delays.RetryMax) {
		err := s.try(ctx, ev)
		if err == nil || ctx.Err() != nil {
			return err
		}
		s.log(fmt.Errorf("deliver event %s: %w", ev.ID, err))
		if err := sleep(ctx, jitter(pause)); err != nil {
			return err
		}
	}
}

func (s *sender) try(ctx context.Context, ev event) error {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // the caller needs no more than that
	}
	ctx, cancel := context.WithTimeout(ctx, s.delays.Timeout)
	defer cancel()
	req, err := s.request(ctx, ev)
	if err != nil {
		return err
	}
	res, err := s.client.Do(req)
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
func (s *sender) request(ctx context.Context, ev event) (*http.Request, error) {
	d := webhooks.Delivery{
		Method: http.MethodPost, URL: s.url, Body: []byte(ev.Body), ReceivedAt: s.now(),
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

// sleep returns early, with its error, when ctx ends.
func sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // the caller needs no more than that
	}
}
