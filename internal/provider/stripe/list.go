package stripe

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/internal/gateway"
)

// maxPage limits a page of a list, in bytes. A page has up to a hundred objects, each with up to fifty metadata values
// of 500 characters.
const maxPage = 8 << 20

// list passes the items of a list to one, page by page, the newest first (https://docs.stripe.com/api/pagination). It
// ends if one returns an error.
func (c *Client) list(ctx context.Context, path string, params any, by *stripe.ListParams, one func(json.RawMessage) error) error {
	by.Limit = new(int64(pageSize))
	for {
		got, err := c.page(ctx, path, params)
		if err != nil {
			return fmt.Errorf("list %s: %w", path, err)
		}
		var last struct {
			ID string `json:"id"`
		}
		for _, item := range got.Data {
			if err := one(item); err != nil {
				return err
			}
			last.ID = ""
			_ = json.Unmarshal(item, &last) // no page can follow an item without an id
		}
		switch {
		case !got.HasMore:
			return nil
		case last.ID == "":
			return fmt.Errorf("list %s: %w", path, errNameless)
		}
		by.StartingAfter = &last.ID
	}
}

func (c *Client) page(ctx context.Context, path string, params any) (got page[json.RawMessage], err error) {
	r := c.request(http.MethodGet, path+"?"+encode(params))
	r.MaxAnswer = maxPage
	refused, err := c.do(ctx, r, &got)
	switch {
	case err != nil:
		return got, err
	case refused != nil:
		return got, said(refused)
	case got.Data == nil:
		return got, errNameless
	}
	return got, nil
}

// created returns a span as a filter of Stripe's lists. Stripe dates objects in seconds.
func created(in gateway.Span) *stripe.RangeQueryParams {
	s := in.Seconds()
	return &stripe.RangeQueryParams{GreaterThanOrEqual: s.From.Unix(), LesserThan: s.To.Unix()}
}
