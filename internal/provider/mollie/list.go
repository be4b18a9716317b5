package mollie

import (
	"context"
	"encoding/json"
	"net/url"
)

// pageSize is the maximum page size of Mollie's lists.
const pageSize = "250"

// each passes the objects of a list to take, page by page, the newest first
// (https://docs.mollie.com/reference/pagination), until take returns false or an error. The name is the list's member in
// the response.
func each[T any](ctx context.Context, c *Client, path, name, limit string, take func(T) (more bool, err error)) error {
	query := url.Values{"limit": {limit}}
	for {
		var page struct {
			Embedded map[string]json.RawMessage `json:"_embedded"`
			Links    struct {
				Next *link `json:"next"`
			} `json:"_links"`
		}
		if err := c.api.Get(ctx, path+"?"+query.Encode(), nil, &page); err != nil {
			return err
		}
		var items []T
		if err := json.Unmarshal(page.Embedded[name], &items); err != nil || items == nil {
			return errNameless
		}
		for _, one := range items {
			if more, err := take(one); err != nil || !more {
				return err
			}
		}
		next := page.Links.Next.from()
		if next == "" {
			return nil
		}
		query.Set("from", next)
	}
}

// from returns the start of the next page. It ignores the address in Mollie's link, because the key must not be sent to
// another address.
func (l *link) from() string {
	if l == nil {
		return ""
	}
	to, err := url.Parse(l.Href)
	if err != nil {
		return ""
	}
	return to.Query().Get("from")
}
