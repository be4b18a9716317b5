package square

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

const eventsPath = "/v2/events"

type eventSearch struct {
	Cursor string     `json:"cursor,omitempty"`
	Limit  int        `json:"limit"`
	Query  eventQuery `json:"query"`
}

type eventQuery struct {
	Filter eventFilter `json:"filter"`
}

type eventFilter struct {
	CreatedAt timeRange `json:"created_at"`
}

type timeRange struct {
	StartAt string `json:"start_at"`
	EndAt   string `json:"end_at"`
}

// Events implements gateway.EventLog (https://developer.squareup.com/reference/square/events-api/search-events). Square
// stores the events of the last 28 days, and only since the application enabled the search, which is disabled by default
// (https://developer.squareup.com/reference/square/events-api/enable-events).
func (c *Client) Events(ctx context.Context, in gateway.Span, take func(gateway.ListedEvent) error) error {
	unread, whole := &kit.Unread{}, in.Seconds()
	within := timeRange{whole.From.Format(time.RFC3339), whole.To.Format(time.RFC3339)}
	search := eventSearch{Limit: 100, Query: eventQuery{eventFilter{within}}}
	r := kit.Request{Method: http.MethodPost, URL: c.base + eventsPath, Header: c.header(), Question: true}
	err := c.pages(eventsPath, func(cursor string) (listing, error) {
		search.Cursor = cursor
		return c.page(ctx, r, search)
	}, func(item json.RawMessage) error {
		return kit.Pass(unread, item, func(e listedEvent) ([]gateway.ListedEvent, error) { return e.listed(item) }, take)
	})
	return unread.After(err)
}

type listedEvent struct {
	ID        string    `json:"event_id"`
	Type      string    `json:"type"`
	CreatedAt time.Time `json:"created_at"`
}

func (e listedEvent) listed(body []byte) ([]gateway.ListedEvent, error) {
	if e.ID == "" || e.Type == "" || e.CreatedAt.IsZero() {
		return nil, fmt.Errorf("event %s: %w", e.ID, errNameless)
	}
	return []gateway.ListedEvent{{Body: body, At: e.CreatedAt.UTC()}}, nil
}
