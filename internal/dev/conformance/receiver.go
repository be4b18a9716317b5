package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/paylatch/paylatch/webhooks"
)

// receiver takes the provider's webhooks. It answers the first genuine webhook with 503, so that the provider sends it again.
type receiver struct {
	verifier webhooks.Verifier
	now      func() time.Time
	server   *http.Server
	served   sync.WaitGroup

	mu      sync.Mutex
	events  []webhooks.Event
	refused []error
	// first is the delivery that was answered 503, returned whether it came again, changed whether that had another body.
	first             *webhooks.Delivery
	firstID           string
	returned, changed bool
	came              chan struct{} // closed and replaced with each delivery
}

// maxDelivery bounds the body of a webhook.
const maxDelivery = 1 << 20

// receive begins to take webhooks that arrive at l, until close. The timeout bounds each of them.
func receive(l net.Listener, verifier webhooks.Verifier, timeout time.Duration, now func() time.Time) *receiver {
	r := &receiver{verifier: verifier, now: now, came: make(chan struct{})}
	r.server = &http.Server{Handler: r, ReadTimeout: timeout, ReadHeaderTimeout: timeout, WriteTimeout: timeout}
	r.served.Go(func() { _ = r.server.Serve(l) })
	return r
}

func (r *receiver) close() {
	_ = r.server.Close()
	r.served.Wait()
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxDelivery))
	if err != nil {
		http.Error(w, "the body can't be read", http.StatusBadRequest)
		return
	}
	w.WriteHeader(r.take(req.Context(), webhooks.Delivery{
		Method: req.Method, URL: req.URL.String(), Header: req.Header, Body: body, ReceivedAt: r.now(),
	}))
}

// take keeps the events of a delivery and returns the status of the response.
func (r *receiver) take(ctx context.Context, d webhooks.Delivery) int {
	events, err := r.verifier.Verify(ctx, d)
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() {
		close(r.came)
		r.came = make(chan struct{})
	}()
	switch {
	case err != nil:
		r.refused = append(r.refused, err)
		return http.StatusBadRequest
	case r.first == nil && len(events) > 0:
		r.first, r.firstID = &d, events[0].ID
		r.events = append(r.events, events...)
		return http.StatusServiceUnavailable
	case len(events) > 0 && events[0].ID == r.firstID:
		r.returned, r.changed = true, !bytes.Equal(r.first.Body, d.Body)
	}
	r.events = append(r.events, events...)
	return http.StatusNoContent
}

func (r *receiver) refusals() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused
}

// wait returns the first event that fits, or an error that names the events that came instead.
func (r *receiver) wait(ctx context.Context, limit time.Duration, name string, fits func(webhooks.Event) bool) (event webhooks.Event, err error) {
	err = r.until(ctx, limit, func() bool {
		for _, e := range r.events {
			if fits(e) {
				event = e
				return true
			}
		}
		return false
	})
	if err != nil {
		return event, fmt.Errorf("no %s: %w", name, r.instead())
	}
	return event, nil
}

// again waits until the delivery that was answered 503 has come again.
func (r *receiver) again(ctx context.Context, limit time.Duration) error {
	err := r.until(ctx, limit, func() bool { return r.returned })
	if err != nil {
		return errors.New("the webhook did not come again")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed {
		return errChanged
	}
	return nil
}

// instead returns an error that lists the events so far.
func (r *receiver) instead() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.refused) > 0 {
		return fmt.Errorf("%d deliveries that can't be verified, the first: %w", len(r.refused), r.refused[0])
	}
	return fmt.Errorf("%d events came, and none was the expected one", len(r.events))
}

var (
	errNever   = errors.New("no webhook came in time")
	errChanged = errors.New("the webhook came again with another body")
)

// until waits for a condition, which is read under the lock.
func (r *receiver) until(ctx context.Context, limit time.Duration, met func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		r.mu.Lock()
		done, came := met(), r.came
		r.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-came:
		case <-ctx.Done():
			return errNever
		}
	}
}
