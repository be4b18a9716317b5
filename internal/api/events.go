package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/api/waiting"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
)

// How many events a page of the feed has.
const (
	usualEvents = 100
	mostEvents  = 1000
)

// fromNow is the cursor behind the newest event.
const fromNow = "now"

// ReadEvents handles GET /v1/events.
func (s *server) ReadEvents(ctx context.Context, r gen.ReadEventsRequestObject) (gen.ReadEventsResponseObject, error) {
	x := ExchangeOf(ctx)
	if err := x.Actor.Require(payment.RoleService); err != nil {
		return nil, err
	}
	after, types, limit, err := feedQuery(r.Params)
	if err != nil {
		return nil, err
	}
	wait, applied, err := waiting.ParseWait(r.Params.Wait, r.Params.Prefer)
	if err != nil {
		return nil, err
	}
	began := s.Now()
	page, err := s.Events.Read(ctx, after, types, limit, wait)
	if errors.Is(err, outbox.ErrCursorInvalid) {
		return nil, payment.Invalid("after", "must be the next_cursor of an earlier page, or now")
	}
	if err != nil {
		return nil, err
	}
	s.FeedRead(x.Actor.Subject, actedOn(after, page), began)
	return writes(func(w http.ResponseWriter) error {
		if applied != "" {
			w.Header().Set("Preference-Applied", applied)
		}
		return response{http.StatusOK, render.Events(page)}.send(w)
	}), nil
}

// actedOn is the cursor up to which a reader has acted on events: the request's cursor or, without one, the cursor before the first event.
func actedOn(after outbox.Cursor, page outbox.Page) outbox.Position {
	switch {
	case after != outbox.Beginning() && after != outbox.End():
		return after.Position
	case len(page.Events) == 0:
		return page.Next.Position
	}
	return page.Events[0].Position - 1
}

// feedQuery reads the cursor, the types and the limit of a page of the feed.
func feedQuery(p gen.ReadEventsParams) (after outbox.Cursor, types []string, limit int, err error) {
	if valueOf(p.After) == fromNow {
		after = outbox.End()
	} else if after, err = outbox.ParseCursor(valueOf(p.After)); err != nil {
		return after, nil, 0, payment.Invalid("after", "must be the next_cursor of an earlier page, or now")
	}
	if list := valueOf(p.Type); list != "" {
		types = strings.Split(list, ",")
	}
	for _, t := range types {
		if !slices.Contains(outbox.Types(), t) {
			return after, nil, 0, payment.Invalid("type", "must be one or more of these, separated by commas: "+strings.Join(outbox.Types(), ", "))
		}
	}
	limit = usualEvents
	if text := valueOf(p.Limit); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > mostEvents {
			return after, nil, 0, payment.Invalid("limit", "must be a whole number from 1 to "+strconv.Itoa(mostEvents))
		}
	}
	return after, types, limit, nil
}
