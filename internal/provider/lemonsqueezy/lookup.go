package lemonsqueezy

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Lookup implements gateway.Provider. It looks up an order (https://docs.lemonsqueezy.com/api/orders/retrieve-order) or
// a checkout, the container. A checkout shows no order (https://docs.lemonsqueezy.com/api/checkouts/retrieve-checkout).
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	return c.standing(ctx, id, nil)
}

// invoicePrefix is the prefix of the ids of subscription payments. They can't be looked up.
const invoicePrefix = "subscription-invoices/"

// standing looks up a payment. The first lookup of a command carries the command's permit.
func (c *Client) standing(ctx context.Context, id string, l *gateway.Permit) (gateway.Outcome, error) {
	if orderForm.MatchString(id) {
		found, err := c.order(ctx, id, l)
		if err != nil {
			return gateway.Outcome{}, err
		}
		return outcome(found)
	}
	if strings.HasPrefix(id, invoicePrefix) {
		return gateway.Outcome{}, fmt.Errorf("%w: an invoice of a subscription", gateway.ErrInconclusive)
	}
	if !checkoutForm.MatchString(id) {
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	}
	var found document[checkout]
	if err := c.api.Get(ctx, "/checkouts/"+id, l, &found); err != nil {
		return gateway.Outcome{}, err
	}
	return outcomeOf(found.Data)
}

func (c *Client) order(ctx context.Context, id string, l *gateway.Permit) (object[order], error) {
	var found document[order]
	err := c.api.Get(ctx, "/orders/"+id, l, &found)
	if err == nil && (!valid(found.Data) || found.Data.ID != id) {
		err = errNoObject
	}
	return found.Data, err
}

const (
	// clocks bounds the difference between our clock and Lemon Squeezy's.
	clocks = 2 * time.Minute
	// pages limits the number of pages that one search reads. A page has at most 100 checkouts.
	pages     = 20
	pageOf100 = "100"
)

// Find implements gateway.Provider. The list of checkouts has no filter by custom data
// (https://docs.lemonsqueezy.com/api/checkouts/list-all-checkouts). Find searches the variant's checkouts, the newest
// first, back to the attempt's creation. The attempt's id contains its creation time. No list contains the checkout of a
// payment that was begun elsewhere by a product's link. If the list moves between two pages, the same checkout may
// appear twice; it counts once.
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	query := url.Values{"filter[store_id]": {c.store.ID}, "filter[variant_id]": {c.store.Variant}, "page[size]": {pageOf100}}
	made := madeAt(id)
	for number := 1; number <= pages; number++ {
		query.Set("page[number]", strconv.Itoa(number))
		listed, last, err := pageOf[object[checkout]](ctx, c, "/checkouts", query)
		if err != nil {
			return gateway.Outcome{}, err
		}
		for _, one := range listed {
			switch {
			case one.Attributes.attempt() == id.String():
				return outcomeOf(one)
			case !one.Attributes.CreatedAt.IsZero() && one.Attributes.CreatedAt.Before(made):
				return gateway.Outcome{}, gateway.ErrNoSuchPayment
			}
		}
		if number >= last {
			return gateway.Outcome{}, gateway.ErrNoSuchPayment
		}
	}
	return gateway.Outcome{}, fmt.Errorf("%w: more than %d pages", gateway.ErrInconclusive, pages)
}

// madeAt returns the earliest possible creation time of an attempt, or the zero time if its id does not contain a time.
func madeAt(id payment.AttemptID) time.Time {
	if uuid.UUID(id).Version() != 7 {
		return time.Time{}
	}
	return time.Unix(uuid.UUID(id).Time().UnixTime()).Add(-clocks)
}

// pageOf reads one page of a list, and the number of the last page
// (https://docs.lemonsqueezy.com/api/getting-started/requests, "Pagination"). A missing list is not an empty list.
func pageOf[T any](ctx context.Context, c *Client, path string, query url.Values) (listed []T, last int, err error) {
	var got struct {
		Data []T `json:"data"`
		Meta struct {
			Page struct {
				Last int `json:"lastPage"`
			} `json:"page"`
		} `json:"meta"`
	}
	err = c.api.Get(ctx, path+"?"+query.Encode(), nil, &got)
	if errors.Is(err, gateway.ErrNoSuchPayment) || err == nil && (got.Data == nil || got.Meta.Page.Last == 0) {
		err = errNoObject
	}
	return got.Data, got.Meta.Page.Last, err
}
