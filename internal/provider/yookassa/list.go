package yookassa

import (
	"context"
	"net/url"

	"github.com/paylatch/paylatch/internal/gateway"
)

// pageSize is the maximum page size of YooKassa's lists.
const pageSize = "100"

// list is one page of a list. Items is nil if the response has no list.
type list[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"next_cursor"`
}

// each passes the objects of a list to take, page by page (https://yookassa.ru/developers/using-api/lists), until take
// returns false or an error.
func each[T any](ctx context.Context, c *Client, path string, query url.Values, take func(T) (more bool, err error)) error {
	query.Set("limit", pageSize)
	for {
		var page list[T]
		if err := c.api.Get(ctx, path+"?"+query.Encode(), nil, &page); err != nil {
			return err
		}
		if page.Items == nil {
			return errNameless
		}
		for _, one := range page.Items {
			if more, err := take(one); err != nil || !more {
				return err
			}
		}
		if page.NextCursor == "" {
			return nil
		}
		query.Set("cursor", page.NextCursor)
	}
}

// search returns the first object of a list that fits. It returns gateway.ErrNoSuchPayment if no object fits.
func search[T any](ctx context.Context, c *Client, path string, query url.Values, fits func(T) bool) (*T, error) {
	var found *T
	err := each(ctx, c, path, query, func(one T) (bool, error) {
		if fits(one) {
			found = &one
		}
		return found == nil, nil
	})
	if err == nil && found == nil {
		err = gateway.ErrNoSuchPayment
	}
	return found, err
}
