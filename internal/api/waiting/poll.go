package waiting

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

// Poll is a read of an attempt.
type Poll struct {
	Actor authz.Actor
	ID    payment.AttemptID
	// Network is the network of the request's sender.
	Network string
	// Tags is If-None-Match, empty without the header.
	Tags string
	// Wait is how long the response is held back while the version is one of Tags.
	Wait time.Duration
	// Applied is Preference-Applied; empty if there is no preference.
	Applied string
}

// Poll writes the response, or returns an error before anything is written, or the wait after which there is one. It
// subscribes before it reads, so that no change is missed.
func (s *Service) Poll(ctx context.Context, w http.ResponseWriter, p Poll) (*Wait, error) {
	var slot slot
	if p.Wait > 0 {
		slot = s.slot(p.Actor, p.ID, p.Network)
	}
	v, slot, err := s.read(ctx, p.Actor, p.ID, slot)
	waits := err == nil && !v.State.Final() && p.matches(v.Version)
	atOnce := func(w http.ResponseWriter) int {
		code, body := s.response(w.Header(), p, &Status{View: v})
		w.WriteHeader(code)
		_, _ = w.Write(body)
		return code
	}
	if waits && slot.Subscription != nil {
		wait := func(c *connection) int { return s.held(c, p, slot, &Status{View: v}) }
		return &Wait{slot: slot, wait: wait, atOnce: atOnce}, nil
	}
	slot.free()
	switch {
	case err != nil:
		return nil, err
	case waits && slot.full != nil:
		return nil, slot.full
	}
	atOnce(w)
	return nil, nil
}

// held waits for a version that the caller does not have, for the end of its time or the hub's end.
func (s *Service) held(c *connection, p Poll, slot slot, status *Status) int {
	until := time.Now().Add(p.Wait) //nolint:forbidigo // the socket's clock
	slot.Start(status.Version, c.wake)
	for p.matches(status.Version) {
		next, err := c.await(slot, status.Version, until)
		if errors.Is(err, errPeerClosed) {
			return statusPeerClosed
		}
		if err != nil {
			break
		}
		status = next
	}
	code, body := s.response(c.header, p, status)
	if c.begin(code, int64(len(body)), body) != nil {
		return statusPeerClosed
	}
	return code
}

func (p Poll) matches(version int) bool { return render.Matches(p.Tags, render.ETag(version)) }

// response sets the headers and returns the status and the body.
func (s *Service) response(h http.Header, p Poll, status *Status) (int, []byte) {
	h.Set("ETag", render.ETag(status.Version))
	if after := s.Renderer.RetryAfter(status.View); after != "" {
		h.Set(echo.HeaderRetryAfter, after)
	}
	if p.Applied != "" {
		h.Set("Preference-Applied", p.Applied)
	}
	if p.matches(status.Version) {
		return http.StatusNotModified, nil
	}
	h.Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	return http.StatusOK, status.render(s.Renderer, p.Actor).body
}

// statusPeerClosed is the status in the log if the peer closed the connection before the response.
const statusPeerClosed = 499

// longestWait is the longest wait, in seconds; it replaces longer ones.
const longestWait = 60

// ParseWait reads the wait of a poll, and Preference-Applied if the wait came by Prefer. Either text may be nil.
func ParseWait(wait, prefer *string) (time.Duration, string, error) {
	switch {
	case wait != nil:
		seconds, ok := waitSeconds(*wait)
		if !ok {
			return 0, "", &payment.ValidationError{Fields: []payment.FieldError{{Field: "wait", Message: "must be a whole number of seconds; a value above 60 counts as 60"}}}
		}
		return time.Duration(seconds) * time.Second, "", nil
	case prefer != nil:
		if seconds, ok := preferredWait(*prefer); ok {
			return time.Duration(seconds) * time.Second, "wait=" + strconv.Itoa(seconds), nil
		}
	}
	return 0, "", nil
}

func waitSeconds(text string) (int, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		n = math.MaxInt
	}
	return min(n, longestWait), true
}

// preferredWait reads Prefer as RFC 7240 defines it: the first of several waits counts, and an invalid preference is
// ignored.
func preferredWait(header string) (int, bool) {
	for preference := range strings.SplitSeq(header, ",") {
		preference, _, _ = strings.Cut(preference, ";")
		name, value, _ := strings.Cut(preference, "=")
		if strings.EqualFold(strings.TrimSpace(name), "wait") {
			return waitSeconds(strings.Trim(strings.TrimSpace(value), `"`))
		}
	}
	return 0, false
}
