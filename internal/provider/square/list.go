package square

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/paylatch/paylatch/internal/provider/kit"
)

// listing is a page of one of Square's lists. The members of the other lists are nil.
type listing struct {
	Payments []json.RawMessage `json:"payments"`
	Payouts  []json.RawMessage `json:"payouts"`
	PaidOut  []json.RawMessage `json:"payout_entries"`
	Refunds  []json.RawMessage `json:"refunds"`
	Disputes []json.RawMessage `json:"disputes"`
	Events   []json.RawMessage `json:"events"`
	Cursor   string            `json:"cursor"`
	Errors   []apiErr          `json:"errors"`
}

func (l listing) items() []json.RawMessage {
	for _, items := range [][]json.RawMessage{l.Payments, l.Refunds, l.Disputes, l.Events, l.Payouts, l.PaidOut} {
		if items != nil {
			return items
		}
	}
	return nil
}

// list passes the items of a list to one, page by page
// (https://developer.squareup.com/docs/build-basics/common-api-patterns/pagination). It ends if one returns an error.
func (c *Client) list(ctx context.Context, path string, query url.Values, one func(json.RawMessage) error) error {
	return c.pages(path, func(cursor string) (listing, error) {
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		return c.page(ctx, kit.Request{Method: http.MethodGet, URL: c.base + path + "?" + query.Encode(), Header: c.header()}, nil)
	}, one)
}

func (c *Client) pages(path string, page func(cursor string) (listing, error), one func(json.RawMessage) error) error {
	for cursor := ""; ; {
		got, err := page(cursor)
		if err != nil {
			return fmt.Errorf("list %s: %w", path, err)
		}
		for _, item := range got.items() {
			if err := one(item); err != nil {
				return err
			}
		}
		if cursor = got.Cursor; cursor == "" {
			return nil
		}
	}
}

// page reads one page. Square omits an empty list from its response. To detect a response that does not come from
// Square, page requires the version header that "the response always returns"
// (https://developer.squareup.com/docs/build-basics/versioning-overview).
func (c *Client) page(ctx context.Context, r kit.Request, body any) (got listing, err error) {
	a, err := kit.DoJSON(ctx, c.http, r, body)
	if err != nil {
		return got, err
	}
	if a.Status != http.StatusOK {
		_, refused, err := read(a)
		switch {
		case refused == nil:
		case refused.status == http.StatusForbidden && refused.Code == "INSUFFICIENT_SCOPES":
			err = fmt.Errorf("%w: %w", errScope, refused.err())
		default:
			err = refused.err()
		}
		return got, err
	}
	switch err := a.Read(&got); {
	case err != nil:
		return got, err
	case len(got.Errors) > 0:
		return got, fmt.Errorf("square lists with the error %s %s", got.Errors[0].Category, got.Errors[0].Code)
	case got.items() == nil && a.Header.Get("Square-Version") == "":
		return got, errNameless
	}
	return got, nil
}

// errScope is wrapped by the error of a list that the token has no permission for.
var errScope = errors.New("the access token lacks a permission")
