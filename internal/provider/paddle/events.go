package paddle

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

const (
	// pageSize keeps a page below the size limit of a response, because each event contains its whole transaction.
	// Paddle's maximum is 200.
	pageSize = "50"
	// numberedLater is our limit for the time between an event and the creation of its id. The list is sorted by id.
	numberedLater = time.Hour
)

var (
	errNameless = errors.New("the answer is no list of objects with ids")
	errUndated  = errors.New("it has no date")
)

// listed is an event in the list. A webhook has the same members and also its own notification_id.
type listed struct {
	ID         string    `json:"event_id"`
	OccurredAt time.Time `json:"occurred_at"`
}

// Events implements gateway.EventLog (https://developer.paddle.com/api-reference/events/list-events). The list has no
// filter by time. Events reads it from the newest event on, until the events are older than the span. It passes each
// event unchanged.
//
// The next page starts after the last event with an id. If the last events have no id, they are read twice.
func (c *Client) Events(ctx context.Context, in gateway.Span, take func(gateway.ListedEvent) error) error {
	unread := &kit.Unread{}
	query := url.Values{"order_by": {"id[DESC]"}, "per_page": {pageSize}}
	for {
		page, more, err := c.page(ctx, "/events", query)
		if err != nil {
			return err
		}
		last, older := "", false
		for _, raw := range page {
			err := kit.Pass(unread, raw, func(e listed) ([]gateway.ListedEvent, error) {
				last = cmp.Or(e.ID, last)
				older = e.before(in.From.Add(-numberedLater))
				return e.passed(raw, in)
			}, take)
			if err != nil {
				return err
			}
			if older {
				return unread.Err()
			}
		}
		switch {
		case !more:
			return unread.Err()
		case last == "" || last == query.Get("after"):
			return errNameless
		}
		query.Set("after", last)
	}
}

// before reports whether the event has a time before at.
func (e listed) before(at time.Time) bool { return !e.OccurredAt.IsZero() && e.OccurredAt.Before(at) }

func (e listed) passed(body []byte, in gateway.Span) ([]gateway.ListedEvent, error) {
	switch {
	case e.ID == "" || e.OccurredAt.IsZero():
		return nil, fmt.Errorf("event %s: %w", e.ID, errNameless)
	case !in.Has(e.OccurredAt):
		return nil, nil
	}
	return []gateway.ListedEvent{{Body: body, At: e.OccurredAt.UTC()}}, nil
}

// page reads one page, and reports whether more pages follow
// (https://developer.paddle.com/api-reference/about/pagination).
func (c *Client) page(ctx context.Context, path string, query url.Values) (items []json.RawMessage, more bool, err error) {
	var said struct {
		Data []json.RawMessage `json:"data"`
		Meta *struct {
			Pagination struct {
				HasMore bool `json:"has_more"`
			} `json:"pagination"`
		} `json:"meta"`
	}
	if err := c.api.Get(ctx, path+"?"+query.Encode(), nil, &said); err != nil {
		return nil, false, unlisted(err)
	}
	if said.Data == nil || said.Meta == nil {
		return nil, false, errNameless
	}
	return said.Data, said.Meta.Pagination.HasMore, nil
}
