package yookassa

import (
	"context"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/payment"
)

// Lookup implements payment.Provider.
func (c *Client) Lookup(ctx context.Context, id string) (payment.Outcome, error) {
	var found object
	if err := c.get(ctx, paymentPath(id), nil, &found); err != nil {
		return payment.Outcome{}, err
	}
	return outcome(found)
}

const (
	// clocks may differ by that much, ours and YooKassa's.
	clocks = 2 * time.Minute
	// lastCharge is how long after its attempt a payment can have been made: while
	// the attempt is young, and then the length of a lease.
	lastCharge = 15 * time.Minute
)

// Find implements payment.Provider. YooKassa can't be asked for metadata: the
// payments of the minutes after the attempt was made, which its id tells, are
// gone through (https://yookassa.ru/developers/api#get_payments_list).
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (payment.Outcome, error) {
	query := url.Values{}
	if uuid.UUID(id).Version() == 7 {
		made := time.Unix(uuid.UUID(id).Time().UnixTime()).UTC()
		query.Set("created_at.gte", made.Add(-clocks).Format(time.RFC3339))
		query.Set("created_at.lte", made.Add(lastCharge+clocks).Format(time.RFC3339))
	}
	found, err := search(ctx, c, "/payments", query, func(o object) bool { return o.Metadata["payment_attempt_id"] == id.String() })
	if err != nil {
		return payment.Outcome{}, err
	}
	return outcome(*found)
}

// pageSize is the largest that YooKassa's lists have.
const pageSize = "100"

// search goes through a list until something fits; it returns
// payment.ErrNoSuchPayment at its end.
func search[T any](ctx context.Context, c *Client, path string, query url.Values, fits func(T) bool) (*T, error) {
	query.Set("limit", pageSize)
	for {
		var page list[T]
		if err := c.get(ctx, path, query, &page); err != nil {
			return nil, err
		}
		if page.Items == nil {
			return nil, errNameless
		}
		for i := range page.Items {
			if fits(page.Items[i]) {
				return &page.Items[i], nil
			}
		}
		if page.NextCursor == "" {
			return nil, payment.ErrNoSuchPayment
		}
		query.Set("cursor", page.NextCursor)
	}
}
