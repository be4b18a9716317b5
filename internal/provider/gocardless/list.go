package gocardless

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
)

// pageSize is the maximum page size of GoCardless's lists.
const pageSize = "500"

// each passes the items of a list to take, page by page
// (https://developer.gocardless.com/api-reference/#api-usage-cursor-pagination), until take returns an error.
func each(ctx context.Context, c *Client, collection string, query url.Values, take func(json.RawMessage) error) error {
	query.Set("limit", pageSize)
	for {
		var page map[string]json.RawMessage
		if err := c.api.Get(ctx, "/"+collection+"?"+query.Encode(), nil, &page); err != nil {
			return err
		}
		var items []json.RawMessage
		if err := json.Unmarshal(page[collection], &items); err != nil || items == nil {
			return errNameless
		}
		for _, one := range items {
			if err := take(one); err != nil {
				return err
			}
		}
		var meta struct {
			Cursors struct {
				After string `json:"after"`
			} `json:"cursors"`
		}
		if err := json.Unmarshal(page["meta"], &meta); err != nil {
			return errNameless
		}
		if meta.Cursors.After == "" {
			return nil
		}
		query.Set("after", meta.Cursors.After)
	}
}

// milliseconds is the time format of GoCardless.
const milliseconds = "2006-01-02T15:04:05.000Z"

// created returns the list parameters for objects that were created in a span. The list may also contain objects shortly
// before or after it.
func created(in gateway.Span) url.Values {
	return url.Values{
		"created_at[gte]": {in.From.UTC().Format(milliseconds)},
		"created_at[lt]":  {in.To.Add(time.Millisecond).UTC().Format(milliseconds)},
	}
}
