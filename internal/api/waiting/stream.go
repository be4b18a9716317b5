package waiting

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

const (
	// heartbeatEvery keeps proxies from taking a quiet stream for a dead one.
	heartbeatEvery = 15 * time.Second
	// heartbeats end a stream after half an hour: the reader's next one needs a token that is still valid.
	heartbeats = 120
	// retryAfter, in ms, is the least pause before a reader opens the next stream. Up to as much is added, so that the
	// readers of a process that has ended don't all come at once.
	retryAfter = 1000
)

// Stream is a read of an attempt's changes.
type Stream struct {
	Actor authz.Actor
	ID    payment.AttemptID
	// Network is the one that the request comes from.
	Network string
	// LastEventID is the version that the reader has; empty if there is none.
	LastEventID string
	// Head ends the stream after its first event.
	Head bool
}

// Stream writes the events so far, or returns an error before anything is written, or the wait that writes all
// until the attempt is final.
func (s *Service) Stream(ctx context.Context, w http.ResponseWriter, r Stream) (*Wait, error) {
	v, slot, err := s.read(ctx, r.Actor, r.ID, s.slot(r.Actor, r.ID, r.Network))
	if err == nil && !v.State.Final() {
		err = slot.full
	}
	if err != nil {
		slot.free()
		return nil, err
	}
	known := r.LastEventID == strconv.Itoa(v.Version)
	if v.State.Final() && known {
		slot.free()
		w.WriteHeader(http.StatusNoContent)
		return nil, nil
	}
	h := w.Header()
	h.Set(echo.HeaderContentType, "text/event-stream")
	h.Set(echo.HeaderCacheControl, "no-store, no-transform")
	h.Set("X-Accel-Buffering", "no") // nginx would hold the events back
	text := s.first(r.Actor, v, known)
	atOnce := func(w http.ResponseWriter) int {
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(text)
		return http.StatusOK
	}
	if slot.Subscription == nil || v.State.Final() || r.Head {
		slot.free()
		atOnce(w)
		return nil, nil
	}
	version := v.Version
	wait := func(c *connection) int {
		slot.Start(version, c.wake)
		err := c.begin(http.StatusOK, -1, text)
		text = nil // it is as large as all else that a waiter keeps
		if err == nil {
			s.follow(c, slot, r.Actor, version)
		}
		return http.StatusOK
	}
	return &Wait{slot: slot, wait: wait, atOnce: atOnce}, nil
}

// first returns the beginning of a stream.
func (s *Service) first(reader authz.Actor, v payment.View, known bool) []byte {
	text := []byte("retry: " + strconv.Itoa(retryAfter+rand.IntN(retryAfter)) + "\n\n") //nolint:gosec // spreads load, guards nothing
	if known {
		return text
	}
	status := &Status{View: v}
	return append(text, status.render(s.Renderer, reader).event...)
}

// follow sends each change after a version, and a comment from time to time, until the last.
func (s *Service) follow(c *connection, slot slot, reader authz.Actor, version int) {
	next := time.Now().Add(heartbeatEvery) //nolint:forbidigo // the socket's clock
	for beats := 0; beats < heartbeats; {
		status, err := c.await(slot, version, next)
		text := []byte(":\n\n")
		switch {
		case err == nil:
			version = status.Version
			text = status.render(s.Renderer, reader).event
		case errors.Is(err, errTimeout):
			beats++
			next = next.Add(heartbeatEvery)
		default:
			return
		}
		if c.send(text) != nil || err == nil && status.State.Final() {
			return
		}
	}
}
