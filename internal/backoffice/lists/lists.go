package lists

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

// Store reads items that match a query, newest first, from behind its place, at most as many as its limit. Its errors are those of
// package payment.
type Store interface {
	Orders(ctx context.Context, q Query) ([]payment.Order, error)
	Attempts(ctx context.Context, q Query) ([]payment.View, error)
	Refunds(ctx context.Context, q Query) ([]payment.Refund, error)
	Disputes(ctx context.Context, q Query) ([]payment.Dispute, error)
	// Settlements have their payouts' ids, and payouts their settlements counted.
	Settlements(ctx context.Context, q Query) ([]payment.Settlement, error)
	Payouts(ctx context.Context, q Query) ([]payment.Payout, error)
	Payout(ctx context.Context, id payment.PayoutID) (payment.Payout, error)
	Reconciliations(ctx context.Context, q Query) ([]Reconciliation, error)
	// Reach returns the place of the last of a number of items of the query's kind and time of creation, ignoring the other
	// filters; the zero place if there are fewer items. In a list of a user's orders only the user's orders count. For a user
	// the place is also zero while the user has fewer orders.
	Reach(ctx context.Context, q Query, items int) (Place, error)
	// DisputesDue reads open disputes by their due date. The place is that date, or the latest time without a date.
	DisputesDue(ctx context.Context, q Query) ([]payment.Dispute, error)
}

// Page is a part of a list.
type Page[T any] struct {
	Items []T
	// Next is the cursor of the next page, empty at the end.
	Next string
	// then is the query of it.
	then Query
}

// Then is the query of the next page.
func (p Page[T]) Then() Query { return p.then }

// Service is the lists for callers with a role that may see more than its own. It is safe for concurrent use. Each method returns
// payment.ErrForbidden to other callers, and to a service that acts for another user than the query's.
type Service struct{ store Store }

// New returns the lists of a store.
func New(s Store) *Service { return &Service{s} }

// Orders lists orders with their attempts.
func (s *Service) Orders(ctx context.Context, actor authz.Actor, q Query) (Page[payment.Order], error) {
	return page(ctx, actor, q, bounded(s.store, s.store.Orders), placeOfOrder)
}

// Attempts lists attempts as their orders show them.
func (s *Service) Attempts(ctx context.Context, actor authz.Actor, q Query) (Page[payment.View], error) {
	return page(ctx, actor, q, bounded(s.store, s.store.Attempts), placeOfAttempt)
}

// Refunds lists refunds.
func (s *Service) Refunds(ctx context.Context, actor authz.Actor, q Query) (Page[payment.Refund], error) {
	return page(ctx, actor, q, bounded(s.store, s.store.Refunds), placeOfRefund)
}

// Disputes lists disputes by when they were opened.
func (s *Service) Disputes(ctx context.Context, actor authz.Actor, q Query) (Page[payment.Dispute], error) {
	return page(ctx, actor, q, bounded(s.store, s.store.Disputes), placeOfDispute)
}

// DisputesDue lists open disputes by their due date, the earliest first. Of the filter it uses only the status and the account.
func (s *Service) DisputesDue(ctx context.Context, actor authz.Actor, q Query) (Page[payment.Dispute], error) {
	if q.Before == (Place{latest(), highest(q.Kind)}) {
		q.Before = Place{time.Time{}, "00000000-0000-0000-0000-000000000000"}
	}
	return page(ctx, actor, q, func(ctx context.Context, q Query) ([]payment.Dispute, Place, error) {
		items, err := s.store.DisputesDue(ctx, q)
		return items, Place{}, err
	}, placeOfDue)
}

func placeOfOrder(o payment.Order) Place     { return Place{o.CreatedAt, string(o.ID)} }
func placeOfAttempt(v payment.View) Place    { return Place{v.CreatedAt, v.ID.String()} }
func placeOfRefund(r payment.Refund) Place   { return Place{r.CreatedAt, r.ID.String()} }
func placeOfDispute(d payment.Dispute) Place { return Place{d.OpenedAt, d.ID.String()} }

// placeOfDue returns the place of a dispute in the list by due date.
func placeOfDue(d payment.Dispute) Place {
	if d.DueBy.IsZero() {
		return Place{latest(), d.ID.String()}
	}
	return Place{d.DueBy, d.ID.String()}
}

// reader reads items that match a query. If it stops early, with fewer items than the limit, it returns the place that it has
// reached; otherwise the zero place.
type reader[T any] func(ctx context.Context, q Query) (items []T, reached Place, err error)

// bounded reads a query without a matching index in parts. Each part looks at a fixed number of items, and the read ends after
// some parts, so that the cost of a request does not grow with the number of rows.
func bounded[T any](s Store, read func(context.Context, Query) ([]T, error)) reader[T] {
	return func(ctx context.Context, q Query) (items []T, reached Place, err error) {
		if !q.Narrowed() {
			items, err = read(ctx, q)
			return items, Place{}, err
		}
		most := q.Limit
		for range windows {
			if q.Until, err = s.Reach(ctx, q, lookedAt); err != nil {
				return nil, Place{}, err
			}
			q.Limit = most - len(items)
			found, err := read(ctx, q)
			if err != nil {
				return nil, Place{}, err
			}
			if items = append(items, found...); len(items) >= most || q.Until == (Place{}) {
				return items, Place{}, nil
			}
			q.Before = q.Until
		}
		return items, q.Until, nil
	}
}

// page reads one item more than the page has, to see whether there is another page.
func page[T any](ctx context.Context, actor authz.Actor, q Query, read reader[T], place func(T) Place) (Page[T], error) {
	if err := actor.Require(payment.RoleService, payment.RoleSupport, payment.RoleAdmin); err != nil {
		return Page[T]{}, err
	}
	if q.Kind.ofBooks() && actor.OnBehalfOf != "" {
		return Page[T]{}, payment.ErrForbidden
	}
	filtered := q
	if filtered.User == "" {
		filtered.User = actor.OnBehalfOf
	}
	if filtered.User != "" {
		if err := actor.MayRead(filtered.User); err != nil {
			return Page[T]{}, err
		}
	}
	filtered.Limit++
	items, reached, err := read(authz.WithReader(ctx, actor.Reader()), filtered)
	switch {
	case err != nil:
		return Page[T]{}, err
	case len(items) > q.Limit:
		items = items[:q.Limit]
		reached = place(items[q.Limit-1])
	case reached == (Place{}):
		return Page[T]{Items: items}, nil
	}
	q.Before = reached
	return Page[T]{Items: items, Next: q.cursor(reached), then: q}, nil
}
