package checkout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/client"
)

const (
	// maxEvent is the largest delivery, in bytes.
	maxEvent = 1 << 20
	// actTime bounds Act: paylatch waits 15 seconds for a response.
	actTime = 10 * time.Second
)

// Receiver is what a shop does with the events of an endpoint.
type Receiver struct {
	// Secrets are those of the endpoint's configuration; two while one is replaced.
	Secrets []string
	// Act acts on an event, once for its ID, and returns once the writes are on disk. After an error the event comes again.
	Act func(ctx context.Context, e client.Event) error
	// Log gets the errors of genuine deliveries; nil means slog.Default().
	Log *slog.Logger
}

// NewReceiver returns the handler that takes deliveries. It answers 204 once an event was acted on, 400 if the delivery is not genuine, 413 if it is
// too large, 500 if a genuine one can't be read, and 503 if Act returns an error. paylatch delivers again whatever got no 2xx. It returns an
// error for secrets by which nothing can be verified.
func NewReceiver(r Receiver) (http.Handler, error) {
	if _, err := client.ParseEvent(r.Secrets, http.Header{}, nil); !errors.Is(err, client.ErrNotGenuine) {
		return nil, fmt.Errorf("checkout: the secrets: %w", err)
	}
	r.Log = cmp.Or(r.Log, slog.Default())
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		req.Body = http.MaxBytesReader(w, req.Body, maxEvent)
		if err := r.take(req); err != nil {
			refuse(w, req, r.Log, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}), nil
}

func (r Receiver) take(req *http.Request) error {
	if req.Method != http.MethodPost {
		return refused(http.StatusMethodNotAllowed, "method-not-allowed", "Use POST.")
	}
	body, err := bytesOf(req)
	if err != nil {
		return err
	}
	e, err := client.ParseEvent(r.Secrets, req.Header, body)
	if errors.Is(err, client.ErrNotGenuine) {
		return refused(http.StatusBadRequest, "not-genuine", "The delivery is not genuine.")
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(req.Context(), actTime)
	defer cancel()
	if err := r.Act(ctx, e); err != nil {
		r.Log.WarnContext(ctx, "an event was not acted on; it comes again", "event", e.ID, "type", e.Type, "error", err)
		return refused(http.StatusServiceUnavailable, "not-acted-on", "The event was not acted on. Deliver it again.")
	}
	return nil
}
