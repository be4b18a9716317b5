package paddle

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Lookup implements gateway.Provider. Later movements of the payment are in its adjustments, which take another call.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	found, err := c.transaction(ctx, id, nil)
	if err != nil {
		return gateway.Outcome{}, err
	}
	return c.standing(ctx, found)
}

func (c *Client) standing(ctx context.Context, t transaction) (gateway.Outcome, error) {
	o, err := t.outcome()
	if err != nil || o.Event != fsm.EventSucceeded {
		return o, err
	}
	all, err := c.adjustments(ctx, url.Values{"transaction_id": {t.ID}})
	if err != nil {
		return gateway.Outcome{}, err
	}
	for _, a := range all {
		if a.TransactionID != t.ID {
			return gateway.Outcome{}, errNoObject
		}
		if err := a.add(&o); err != nil {
			return gateway.Outcome{}, err
		}
	}
	return o, nil
}

const (
	// clocks bounds the difference between our clock and Paddle's.
	clocks = 2 * time.Minute
	// pages limits the number of pages that one search reads. A page has at most 30 transactions.
	pages    = 20
	pageOf30 = "30"
)

// Find implements gateway.Provider. The list has no filter by custom_data
// (https://developer.paddle.com/api-reference/transactions/list-transactions). Find therefore reads the transactions
// since the attempt's creation, oldest first; the attempt's id contains its creation time. If several transactions
// belong to the attempt, the most advanced transaction decides, and the oldest of equals. If the list is too long to
// read, Find may return a transaction that it found, but it reports neither a missing payment nor a failure.
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	query := url.Values{"order_by": {"created_at[ASC]"}, "per_page": {pageOf30}}
	if uuid.UUID(id).Version() == 7 {
		made := time.Unix(uuid.UUID(id).Time().UnixTime()).UTC()
		query.Set("created_at[GTE]", made.Add(-clocks).Format(time.RFC3339))
	}
	var best transaction
	near := -1
	err := eachPage(ctx, c, "/transactions", query, pages, func(t transaction) string {
		if t.attempt() == id.String() && t.rank() > near {
			best, near = t, t.rank()
		}
		return t.ID
	})
	switch {
	case errors.Is(err, errLong) && best.goesOn():
	case err != nil:
		return gateway.Outcome{}, err
	case near < 0:
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	}
	return c.standing(ctx, best)
}

// goesOn reports whether a transaction is paid or may still be paid.
func (t transaction) goesOn() bool {
	return t.ID != "" && t.state() != fsm.EventFailed && t.state() != fsm.EventSoftFailed
}

// rank returns how near a transaction is to being paid.
func (t transaction) rank() int {
	return slices.Index([]fsm.Event{fsm.EventFailed, fsm.EventSoftFailed, fsm.EventActionRequired, fsm.EventProcessing, fsm.EventSucceeded}, t.state())
}

var errLong = fmt.Errorf("%w: Paddle lists too many pages", gateway.ErrInconclusive)

// eachPage passes the objects of a list to take, page by page
// (https://developer.paddle.com/api-reference/about/pagination). take returns the object's id. A list with more pages
// than most is an error.
func eachPage[T any](ctx context.Context, c *Client, path string, query url.Values, most int, take func(T) string) error {
	for range most {
		var got struct {
			Data []T `json:"data"`
			Meta *struct {
				Pagination struct {
					HasMore bool `json:"has_more"`
				} `json:"pagination"`
			} `json:"meta"`
		}
		switch err := c.api.Get(ctx, path+"?"+query.Encode(), nil, &got); {
		case err != nil:
			return unlisted(err)
		case got.Data == nil || got.Meta == nil:
			return errNoObject
		}
		last := ""
		for _, one := range got.Data {
			if last = take(one); last == "" {
				return errNoObject
			}
		}
		switch {
		case !got.Meta.Pagination.HasMore:
			return nil
		case last == "" || last == query.Get("after"):
			return errNoObject
		}
		query.Set("after", last)
	}
	return fmt.Errorf("%w: more than %d", errLong, most)
}

// unlisted replaces gateway.ErrNoSuchPayment, because an unreadable list does not mean that the payment does not exist.
func unlisted(err error) error {
	if errors.Is(err, gateway.ErrNoSuchPayment) {
		return errNoObject
	}
	return err
}
