package stripe

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Events implements gateway.EventLog (https://docs.stripe.com/api/events/list). Stripe lists the events of the last 30
// days. Each event has the API version of its time, which may differ from the endpoint's version.
func (c *Client) Events(ctx context.Context, in gateway.Span, take func(gateway.ListedEvent) error) error {
	params, unread := &stripe.EventListParams{CreatedRange: created(in)}, &kit.Unread{}
	err := c.list(ctx, "/v1/events", params, &params.ListParams, func(item json.RawMessage) error {
		return kit.Pass(unread, item, func(e listedEvent) ([]gateway.ListedEvent, error) { return e.listed(item) }, take)
	})
	return unread.After(err)
}

type listedEvent struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Created int64  `json:"created"`
}

func (e listedEvent) listed(body []byte) ([]gateway.ListedEvent, error) {
	if e.ID == "" || e.Type == "" || e.Created <= 0 {
		return nil, fmt.Errorf("event %s: %w", e.ID, errNameless)
	}
	return []gateway.ListedEvent{{Body: body, At: time.Unix(e.Created, 0).UTC()}}, nil
}
