package gocardless

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Events implements gateway.EventLog (https://developer.gocardless.com/api-reference/#events-list-events). A webhook is
// a batch of events in the list's format. Events passes each event as a batch of one.
func (c *Client) Events(ctx context.Context, in gateway.Span, take func(gateway.ListedEvent) error) error {
	unread := &kit.Unread{}
	return unread.After(each(ctx, c, "events", created(in), func(raw json.RawMessage) error {
		return kit.Pass(unread, raw, func(e listed) ([]gateway.ListedEvent, error) { return e.passed(raw, in) }, take)
	}))
}

type listed struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"created_at"`
}

func (e listed) passed(raw []byte, in gateway.Span) ([]gateway.ListedEvent, error) {
	switch {
	case e.CreatedAt.IsZero():
		return nil, fmt.Errorf("event %s: %w", e.ID, errNameless)
	case !in.Has(e.CreatedAt):
		return nil, nil
	}
	return []gateway.ListedEvent{{Body: slices.Concat([]byte(`{"events":[`), raw, []byte(`]}`)), At: e.CreatedAt.UTC()}}, nil
}
