package gocardless

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
)

// Events implements gateway.EventLog
// (https://developer.gocardless.com/api-reference/#events-list-events). A webhook is a batch of events
// as they are in the list: each is passed as a batch of its own.
func (c *Client) Events(ctx context.Context, in gateway.Span, take func(gateway.ListedEvent) error) error {
	return each(ctx, c, "events", created(in), func(raw json.RawMessage) error {
		var listed struct {
			CreatedAt time.Time `json:"created_at"`
		}
		if err := json.Unmarshal(raw, &listed); err != nil || listed.CreatedAt.IsZero() {
			return errNameless
		}
		if !in.Has(listed.CreatedAt) {
			return nil
		}
		return take(gateway.ListedEvent{
			Body: slices.Concat([]byte(`{"events":[`), raw, []byte(`]}`)), At: listed.CreatedAt.UTC(),
		})
	})
}
