package lists

import (
	"cmp"
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/paylatch/paylatch/internal/backoffice/parts"
	"github.com/paylatch/paylatch/internal/payment"
)

// Union is the lists of several stores. No store has an item of another store. A cursor is a place in all of them. A list fails
// if one store does not respond, since it would pass over the items of that store. A list of one account needs only its own
// store.
type Union struct {
	// Of returns the store of an account.
	Of     func(account string) Store
	Stores []Store
}

// Orders implements Store.
func (u Union) Orders(ctx context.Context, q Query) ([]payment.Order, error) {
	return together(ctx, u, q, Store.Orders, newest(placeOfOrder))
}

// Attempts implements Store.
func (u Union) Attempts(ctx context.Context, q Query) ([]payment.View, error) {
	return together(ctx, u, q, Store.Attempts, newest(placeOfAttempt))
}

// Refunds implements Store.
func (u Union) Refunds(ctx context.Context, q Query) ([]payment.Refund, error) {
	return together(ctx, u, q, Store.Refunds, newest(placeOfRefund))
}

// Disputes implements Store.
func (u Union) Disputes(ctx context.Context, q Query) ([]payment.Dispute, error) {
	return together(ctx, u, q, Store.Disputes, newest(placeOfDispute))
}

// Reach implements Store: no store is read further than the first of them reaches.
func (u Union) Reach(ctx context.Context, q Query, items int) (reached Place, err error) {
	for _, s := range u.of(q) {
		own, err := s.Reach(ctx, q, items)
		if err != nil {
			return Place{}, err
		}
		if own.compare(reached) > 0 {
			reached = own
		}
	}
	return reached, nil
}

// of returns the stores that may have items of a query.
func (u Union) of(q Query) []Store {
	if q.Account != "" {
		return []Store{u.Of(q.Account)}
	}
	return u.Stores
}

// DisputesDue implements Store.
func (u Union) DisputesDue(ctx context.Context, q Query) ([]payment.Dispute, error) {
	return together(ctx, u, q, Store.DisputesDue, func(a, b payment.Dispute) int { return placeOfDue(a).compare(placeOfDue(b)) })
}

func newest[T any](place func(T) Place) func(a, b T) int {
	return func(a, b T) int { return place(b).compare(place(a)) }
}

func (p Place) compare(other Place) int {
	return cmp.Or(p.At.Compare(other.At), cmp.Compare(p.ID, other.ID))
}

// together reads the same page of each store at once, and returns the first items of all pages.
func together[T any](
	ctx context.Context, u Union, q Query, read func(Store, context.Context, Query) ([]T, error), order func(a, b T) int,
) ([]T, error) {
	stores := u.of(q)
	pages := make([][]T, len(stores))
	group, ctx := errgroup.WithContext(ctx)
	for i, s := range stores {
		group.Go(func() (err error) {
			pages[i], err = read(s, ctx, q)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err //nolint:wrapcheck // that of the one store
	}
	first, _ := parts.First(pages, order, q.Limit)
	return first, nil
}
