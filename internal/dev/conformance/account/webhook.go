package account

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// Receiver takes the webhooks of an account and verifies them.
type Receiver struct {
	verifier  webhooks.Verifier
	publicURL string
	path      string
	now       func() time.Time

	mu      sync.Mutex
	hide    *hider
	events  []webhooks.Event
	refused []error
	came    chan struct{} // closed and replaced with each delivery
}

// NewReceiver returns a receiver. Deliveries to publicURL arrive at path, or below it by topic.
func NewReceiver(verifier webhooks.Verifier, publicURL, path string, now func() time.Time) *Receiver {
	return &Receiver{verifier: verifier, publicURL: publicURL, path: path, now: now, came: make(chan struct{})}
}

// hides has the signatures of deliveries taken out of the report.
func (rc *Receiver) hides(h *hider) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.hide = h
}

// maxDelivery bounds the body of a webhook.
const maxDelivery = 1 << 20

// ServeHTTP implements http.Handler.
func (rc *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	topic, ok := rc.topic(req.URL.Path)
	if !ok {
		http.NotFound(w, req)
		return
	}
	var body []byte
	if req.Method != http.MethodGet {
		var err error
		if body, err = io.ReadAll(http.MaxBytesReader(w, req.Body, maxDelivery)); err != nil {
			http.Error(w, "the body can't be read", http.StatusBadRequest)
			return
		}
	}
	d := webhooks.Delivery{
		Method: req.Method, URL: payment.WebhookAddress(rc.publicURL, topic, requested(req)), Topic: topic, Header: req.Header, Body: body,
		RemoteAddr: sender(req), ReceivedAt: rc.now(),
	}
	ack := rc.take(req.Context(), d)
	if ack.ContentType != "" {
		w.Header().Set("Content-Type", ack.ContentType)
	}
	w.WriteHeader(ack.Status)
	_, _ = w.Write(ack.Body)
}

func (rc *Receiver) topic(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, rc.path)
	return strings.Trim(rest, "/"), ok && (rest == "" || strings.HasPrefix(rest, "/"))
}

func requested(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return scheme + "://" + r.Host + r.URL.RequestURI()
}

// sender is the address of the sender, as the tunnel forwards it.
func sender(r *http.Request) netip.Addr {
	first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-For"), ",")
	if a, err := netip.ParseAddr(strings.TrimSpace(first)); err == nil {
		return a.Unmap()
	}
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	return peer.Addr().Unmap()
}

// take keeps the events of a delivery and returns the response.
func (rc *Receiver) take(ctx context.Context, d webhooks.Delivery) webhooks.Ack {
	if challenger, ok := rc.verifier.(webhooks.Challenger); ok {
		if ack, is := challenger.Challenge(d); is {
			return ack
		}
	}
	events, err := rc.verifier.Verify(ctx, d)
	rc.mu.Lock()
	defer rc.mu.Unlock()
	if rc.hide != nil {
		rc.hide.learnHeader(d.Header)
	}
	defer func() {
		close(rc.came)
		rc.came = make(chan struct{})
	}()
	if err != nil {
		rc.refused = append(rc.refused, err)
		return webhooks.Ack{Status: http.StatusBadRequest}
	}
	if answerer, ok := rc.verifier.(webhooks.Answerer); ok && len(events) == 1 && events[0].Kind == webhooks.KindQuestion {
		return answerer.Answer(d, webhooks.AnswerAccept)
	}
	rc.events = append(rc.events, events...)
	return rc.verifier.Ack(d, events)
}

// find returns the first event that fits.
func (rc *Receiver) find(fits func(webhooks.Event) bool) (webhooks.Event, bool) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	for _, e := range rc.events {
		if fits(e) && e.ProviderPaymentID != "" {
			return e, true
		}
	}
	return webhooks.Event{}, false
}

// wait waits for an event that fits.
func (rc *Receiver) wait(ctx context.Context, limit time.Duration, fits func(webhooks.Event) bool) (webhooks.Event, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		rc.mu.Lock()
		came := rc.came
		for _, e := range rc.events {
			if fits(e) {
				rc.mu.Unlock()
				return e, nil
			}
		}
		refused := rc.refused
		rc.mu.Unlock()
		select {
		case <-came:
		case <-ctx.Done():
			return webhooks.Event{}, errors.Join(refused...)
		}
	}
}

// webhook waits for the webhook of the charge case's payment.
func webhook(ctx context.Context, r *run) (string, error) {
	switch {
	case r.Receiver == nil:
		return "", SkipError(r.NoReceiver)
	case r.Unannounced:
		return "", notOfferedError("the provider sends no webhook for such a payment")
	}
	m, err := r.needPaid()
	if err != nil {
		return "", err
	}
	e, err := r.Receiver.wait(ctx, r.WebhookWait, func(e webhooks.Event) bool {
		return m.named(e) && e.Kind != webhooks.KindIgnored && e.Kind != webhooks.KindQuestion && e.Kind != webhooks.KindUnreadable
	})
	switch {
	case ctx.Err() != nil:
		return "", errStopped
	case err != nil:
		return "", fail(FaultWebhookRefused, "put the signing secret that the provider shows for this endpoint into the account's keys", "a webhook arrived and was refused: %s", err)
	case e.Kind == "":
		return "", fail(FaultNoWebhook, "start the tunnel, and check the address and the events of the endpoint in the provider's dashboard",
			"no webhook about the payment %s came within %s", m.id(), r.WebhookWait)
	case e.Mode == webhooks.ModeLive:
		return "", LiveError{"a webhook"}
	case e.Kind == webhooks.KindSucceeded && e.Money != nil && *e.Money != r.Money.Wire():
		return "", fail(FaultWebhookAmount, toLook, "the webhook states %s for a payment of %s", e.Money.Text(), r.Money)
	}
	return fmt.Sprintf("%s, genuine", e.Kind), nil
}
