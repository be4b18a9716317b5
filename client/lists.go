package client

import (
	"context"
	"fmt"
	"iter"
	"net/http"

	"github.com/paylatch/paylatch/client/api"
)

// Orders lists orders, newest first, from p's cursor on; a nil p lists all orders. Pages are read as they are needed. Orders
// that are added meanwhile do not disturb the pages. The list ends with the first error, which comes without an order.
func (c *Client) Orders(ctx context.Context, p *api.ListOrdersParams) iter.Seq2[api.Order, error] {
	q := valueOf(p)
	return listed("orders", func(cursor *string) ([]api.Order, *string, error) {
		q.Cursor = or(cursor, q.Cursor)
		r, err := c.API.ListOrdersWithResponse(ctx, &q)
		if err != nil {
			return nil, nil, err
		}
		return page(r.HTTPResponse, r.Body, func(l api.Orders) ([]api.Order, *string) { return l.Items, l.NextCursor })
	})
}

// Attempts lists payment attempts as [Client.Orders] does orders.
func (c *Client) Attempts(ctx context.Context, p *api.ListPaymentAttemptsParams) iter.Seq2[api.Attempt, error] {
	q := valueOf(p)
	return listed("payment attempts", func(cursor *string) ([]api.Attempt, *string, error) {
		q.Cursor = or(cursor, q.Cursor)
		r, err := c.API.ListPaymentAttemptsWithResponse(ctx, &q)
		if err != nil {
			return nil, nil, err
		}
		return page(r.HTTPResponse, r.Body, func(l api.Attempts) ([]api.Attempt, *string) { return l.Items, l.NextCursor })
	})
}

// Refunds lists refunds as [Client.Orders] does orders.
func (c *Client) Refunds(ctx context.Context, p *api.ListRefundsParams) iter.Seq2[api.Refund, error] {
	q := valueOf(p)
	return listed("refunds", func(cursor *string) ([]api.Refund, *string, error) {
		q.Cursor = or(cursor, q.Cursor)
		r, err := c.API.ListRefundsWithResponse(ctx, &q)
		if err != nil {
			return nil, nil, err
		}
		return page(r.HTTPResponse, r.Body, func(l api.Refunds) ([]api.Refund, *string) { return l.Items, l.NextCursor })
	})
}

// Disputes lists disputes as [Client.Orders] does orders.
func (c *Client) Disputes(ctx context.Context, p *api.ListDisputesParams) iter.Seq2[api.Dispute, error] {
	q := valueOf(p)
	return listed("disputes", func(cursor *string) ([]api.Dispute, *string, error) {
		q.Cursor = or(cursor, q.Cursor)
		r, err := c.API.ListDisputesWithResponse(ctx, &q)
		if err != nil {
			return nil, nil, err
		}
		return page(r.HTTPResponse, r.Body, func(l api.Disputes) ([]api.Dispute, *string) { return l.Items, l.NextCursor })
	})
}

// Settlements lists settlements as [Client.Orders] does orders.
func (c *Client) Settlements(ctx context.Context, p *api.ListSettlementsParams) iter.Seq2[api.Settlement, error] {
	q := valueOf(p)
	return listed("settlements", func(cursor *string) ([]api.Settlement, *string, error) {
		q.Cursor = or(cursor, q.Cursor)
		r, err := c.API.ListSettlementsWithResponse(ctx, &q)
		if err != nil {
			return nil, nil, err
		}
		return page(r.HTTPResponse, r.Body, func(l api.Settlements) ([]api.Settlement, *string) { return l.Items, l.NextCursor })
	})
}

// Payouts lists payouts as [Client.Orders] does orders.
func (c *Client) Payouts(ctx context.Context, p *api.ListPayoutsParams) iter.Seq2[api.Payout, error] {
	q := valueOf(p)
	return listed("payouts", func(cursor *string) ([]api.Payout, *string, error) {
		q.Cursor = or(cursor, q.Cursor)
		r, err := c.API.ListPayoutsWithResponse(ctx, &q)
		if err != nil {
			return nil, nil, err
		}
		return page(r.HTTPResponse, r.Body, func(l api.Payouts) ([]api.Payout, *string) { return l.Items, l.NextCursor })
	})
}

// Reconciliations lists reconciliations as [Client.Orders] does orders.
func (c *Client) Reconciliations(ctx context.Context, p *api.ListReconciliationsParams) iter.Seq2[api.Reconciliation, error] {
	q := valueOf(p)
	return listed("reconciliations", func(cursor *string) ([]api.Reconciliation, *string, error) {
		q.Cursor = or(cursor, q.Cursor)
		r, err := c.API.ListReconciliationsWithResponse(ctx, &q)
		if err != nil {
			return nil, nil, err
		}
		return page(r.HTTPResponse, r.Body, func(l api.Reconciliations) ([]api.Reconciliation, *string) { return l.Items, l.NextCursor })
	})
}

// listed yields the items of all pages.
func listed[T any](what string, read func(cursor *string) ([]T, *string, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for cursor, more := (*string)(nil), true; more; more = cursor != nil {
			items, next, err := read(cursor)
			if err != nil {
				var none T
				yield(none, fmt.Errorf("client: list %s: %w", what, err))
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			cursor = next
		}
	}
}

func page[L, T any](r *http.Response, body []byte, of func(L) ([]T, *string)) ([]T, *string, error) {
	l, err := read[L]("a list", r, body)
	if err != nil {
		return nil, nil, err
	}
	items, next := of(*l)
	return items, next, nil
}

func or(a, b *string) *string {
	if a != nil {
		return a
	}
	return b
}

func valueOf[T any](p *T) T {
	if p == nil {
		return *new(T)
	}
	return *p
}
