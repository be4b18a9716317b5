package engine_test

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/standard"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// receiver is an endpoint as the API has it: verify, take in, acknowledge.
func receiver(t *testing.T, service *atomic.Pointer[service]) http.Handler {
	t.Helper()
	verifier, err := standard.New(webhooks.Config{Secrets: []string{secret}})
	require.NoError(t, err)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		events, err := verifier.Verify(req.Context(), webhooks.Delivery{
			Method: req.Method, Header: req.Header, Body: body, ReceivedAt: time.Now(),
		})
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, err = service.Load().Intake(req.Context(), received(body, events...))
		if errors.Is(err, payment.ErrUnavailable) || errors.Is(err, payment.ErrOverloaded) {
			w.WriteHeader(http.StatusServiceUnavailable)
		} else if err != nil {
			t.Errorf("take in %s: %v", body, err)
		}
	})
}

// once lets no request in before open is closed, if there is such a thing. An early one comes
// again.
func once(open <-chan struct{}, in http.Handler) http.Handler {
	if open == nil {
		return in
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		select {
		case <-open:
			in.ServeHTTP(w, req)
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
}

func received(body []byte, events ...webhooks.Event) []payment.ReceivedEvent {
	all := make([]payment.ReceivedEvent, len(events))
	for i, e := range events {
		all[i] = payment.ReceivedEvent{Account: "sandbox", Event: e, Body: body, At: time.Now(), Headers: map[string]string{"webhook-id": e.ID}}
	}
	return all
}

// event is an event about an attempt, or about any named object.
func event(kind webhooks.Kind, names ...string) webhooks.Event {
	e := webhooks.Event{ID: "evt_" + uuid.NewString(), IDSource: webhooks.Native, Type: "test." + string(kind), Kind: kind, References: names}
	if kind == webhooks.KindSucceeded || kind == webhooks.KindAuthorized {
		e.Money = &webhooks.Money{Minor: price, Currency: "EUR"}
	}
	return e
}

// tell delivers events in one request.
func (r *env) tell(t *testing.T, events ...webhooks.Event) []fsm.Verdict {
	t.Helper()
	verdicts, err := r.Intake(t.Context(), received([]byte("{}"), events...))
	require.NoError(t, err)
	require.Len(t, verdicts, len(events))
	return verdicts
}

// say delivers one event about an attempt and returns the verdict.
func (r *env) say(t *testing.T, id payment.AttemptID, kind webhooks.Kind) fsm.Verdict {
	t.Helper()
	return r.tell(t, event(kind, id.String()))[0]
}
