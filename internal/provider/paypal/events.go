package paypal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

const eventsPath = "/v1/notifications/webhooks-events"

var errCircle = errors.New("the next page is the same")

// Events implements gateway.EventLog (https://developer.paypal.com/docs/api/webhooks/v1/#webhooks-events_list). It lists
// the app's events. PayPal does not document how long it stores them.
func (c *Client) Events(ctx context.Context, in gateway.Span, take func(gateway.ListedEvent) error) error {
	unread, whole := &kit.Unread{}, in.Seconds()
	query := url.Values{"start_time": {whole.From.Format(time.RFC3339)}, "end_time": {whole.To.Format(time.RFC3339)}, "page_size": {"25"}}.Encode()
	for query != "" {
		page, err := c.eventPage(ctx, query)
		if err != nil {
			return fmt.Errorf("list %s: %w", eventsPath, err)
		}
		for _, item := range page.Events {
			read := func(e listedEvent) ([]gateway.ListedEvent, error) { return e.listed(item) }
			if err := kit.Pass(unread, item, read, take); err != nil {
				return err
			}
		}
		if query, err = page.next(query); err != nil {
			return fmt.Errorf("list %s: %w", eventsPath, err)
		}
	}
	return unread.Err()
}

type eventPage struct {
	Events []json.RawMessage `json:"events"`
	Links  []link            `json:"links"`
}

func (c *Client) eventPage(ctx context.Context, query string) (page eventPage, err error) {
	if err = c.api.Get(ctx, eventsPath+"?"+query, nil, &page); err == nil && page.Events == nil {
		err = errNameless
	}
	return page, err
}

// next returns the query of the next page, or "" on the last page. It ignores the address in the link, because the
// access token must go to the configured address only.
func (p eventPage) next(now string) (string, error) {
	for _, l := range p.Links {
		if l.Rel != "next" {
			continue
		}
		to, err := url.Parse(l.Href)
		switch {
		case err != nil:
			return "", fmt.Errorf("next page: %w", err)
		case to.RawQuery == "" || to.RawQuery == now:
			return "", errCircle
		}
		return to.RawQuery, nil
	}
	return "", nil
}

type listedEvent struct {
	ID        string    `json:"id"`
	Type      string    `json:"event_type"`
	CreatedAt time.Time `json:"create_time"`
}

func (e listedEvent) listed(body []byte) ([]gateway.ListedEvent, error) {
	if e.ID == "" || e.Type == "" || e.CreatedAt.IsZero() {
		return nil, fmt.Errorf("event %s: %w", e.ID, errNameless)
	}
	return []gateway.ListedEvent{{Body: body, At: e.CreatedAt.UTC()}}, nil
}
