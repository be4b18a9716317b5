package api

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/stream"
)

const (
	// commentEvery keeps proxies from taking a quiet stream for a dead one.
	commentEvery = 15 * time.Second
	// streamLife bounds the life of a stream: whoever comes again shows a token that
	// is still valid.
	streamLife = 30 * time.Minute
	// A reader comes again after one to two seconds, so that those of a process
	// that has ended don't all come at once.
	comeAgain = 1000
)

// StreamAttempt handles GET /v1/payment-attempts/{payment_attempt_id}/stream.
func (s *server) StreamAttempt(ctx context.Context, r gen.StreamAttemptRequestObject) (gen.StreamAttemptResponseObject, error) {
	x := exchangeOf(ctx)
	id, err := x.attemptID(r.PaymentAttemptID)
	if err != nil {
		return nil, err
	}
	place := s.seat(x.actor, id)
	v, err := s.Payments.Attempt(ctx, x.actor, id)
	if err != nil {
		place.leave()
		return nil, err
	}
	x.about(v.Attempt)
	known := valueOf(r.Params.LastEventID) == strconv.Itoa(v.Version)
	switch {
	case v.State.Final() && known:
		place.leave()
		return answer{http.StatusNoContent, nil}, nil
	case place.refused != nil && !v.State.Final():
		return nil, place.refused
	}
	f := &feed{server: s, x: x, waiter: place.waiter, version: v.Version, first: []byte("retry: " + strconv.Itoa(comeAgain+rand.IntN(comeAgain)) + "\n\n")} //nolint:gosec // spreads load, guards nothing
	if !known {
		event, _ := s.render(&Status{View: v})
		f.first = append(f.first, event...)
	}
	if v.State.Final() || x.head {
		place.leave()
		f.waiter = nil
	}
	return f, nil
}

// feed is an answer that goes on.
type feed struct {
	server  *server
	x       *exchange
	line    *line
	waiter  *stream.Waiter[*Status]
	version int
	// first is what is sent at once.
	first []byte
	// age is how long it has gone on.
	age time.Duration
}

// VisitStreamAttemptResponse gives the request's goroutine back, as that of a
// poll. Where nobody can wait the stream ends after what is known, and its reader
// comes again.
func (f *feed) VisitStreamAttemptResponse(w http.ResponseWriter) error {
	h := w.Header()
	h.Set(echo.HeaderContentType, "text/event-stream")
	h.Set(echo.HeaderCacheControl, "no-store, no-transform")
	h.Set("X-Accel-Buffering", "no") // nginx would hold the events back
	if f.waiter != nil {
		l, err := f.x.takeOver(w, &f.server.crew, f.waiter)
		if err == nil {
			f.begin(l)
			return nil
		}
		f.waiter.Leave()
	}
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(f.first)
	return nil
}

// begin sends what is known and waits for more.
func (f *feed) begin(l *line) {
	f.line = l
	known := f.first
	text := append(append(l.open(f.server.Now(), http.StatusOK, "", len(known)), "\r\n"...), known...)
	f.first, l.head = nil, nil
	here := l.write(text)
	l.begin(f.version, lookAround, func() {
		if here {
			f.awake()
			return
		}
		f.finish()
	})
}

// awake sends what there is to tell.
func (f *feed) awake() {
	for {
		s, what := f.line.look(f.version)
		var text []byte
		switch what {
		case nothing:
			return
		case changed:
			f.version = s.Version
			text, _ = f.server.render(s)
		case rang:
			f.line.timer.Reset(lookAround)
			if f.age += lookAround; f.age%commentEvery != 0 {
				continue
			}
			text = []byte(":\n\n")
		case closing, gone:
			f.finish()
			return
		}
		if !f.line.write(text) || what == changed && s.State.Final() || f.age >= streamLife {
			f.finish()
			return
		}
	}
}

// finish ends the stream. The hub's end waits for it.
func (f *feed) finish() {
	f.line.end(func() {
		f.server.log(f.x, f.x.route, http.StatusOK)
		f.waiter.Leave()
	})
}
