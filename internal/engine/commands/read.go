package commands

import (
	"context"
	"fmt"
	"slices"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

// Order reads an order with its attempts. It returns ErrForbidden when the order is another user's. To a customer it
// also returns ErrForbidden when the order does not exist.
func (c *Commands) Order(ctx context.Context, actor authz.Actor, id payment.OrderID) (payment.Order, error) {
	o, err := c.Store.Order(ctx, id)
	if err != nil {
		return payment.Order{}, actor.Unseen(err)
	}
	return o, actor.MayRead(o.UserID)
}

// Attempts reads the attempts of an order, oldest first. With a request it returns only the attempt of that request, if
// it made one.
func (c *Commands) Attempts(ctx context.Context, actor authz.Actor, id payment.OrderID, request payment.RequestID) ([]payment.View, error) {
	o, err := c.Order(ctx, actor, id)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(o.Views(), func(v payment.View) bool { return request != "" && v.RequestID != request }), nil
}

// Attempt reads an attempt. Reading never changes anything.
func (c *Commands) Attempt(ctx context.Context, actor authz.Actor, id payment.AttemptID) (payment.View, error) {
	a, err := c.attempt(ctx, id)
	if err != nil {
		return payment.View{}, actor.Unseen(err)
	}
	if err := actor.MayReadAttempt(a.UserID, id); err != nil {
		return payment.View{}, err
	}
	return c.Runner.View(ctx, a)
}

// Watched reads several attempts at once and leaves out missing ones. The caller must have checked the reader's rights.
func (c *Commands) Watched(ctx context.Context, ids []payment.AttemptID) ([]payment.View, error) {
	attempts, err := c.Store.AttemptsByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	var failed []payment.OrderID
	for _, a := range attempts {
		if a.Failed() {
			failed = append(failed, a.OrderID)
		}
	}
	orders, err := c.Store.Orders(ctx, failed)
	if err != nil {
		return nil, err
	}
	views := make([]payment.View, 0, len(attempts))
	for _, a := range attempts {
		views = append(views, payment.ViewOf(a, orders[a.OrderID]))
	}
	return views, nil
}

// RefundStatus reads a refund. It returns ErrForbidden when it is of another
// user's payment.
func (c *Commands) RefundStatus(ctx context.Context, actor authz.Actor, id payment.RefundID) (payment.Refund, error) {
	r, err := c.Store.Refund(ctx, id)
	if err != nil {
		return payment.Refund{}, actor.Unseen(err)
	}
	a, err := c.Store.Attempt(ctx, r.AttemptID)
	if err != nil {
		return payment.Refund{}, err
	}
	return r, actor.MayRead(a.UserID)
}

// Dispute reads a dispute. It returns ErrForbidden to a customer, and to a service that acts for
// another user than the payment's.
func (c *Commands) Dispute(ctx context.Context, actor authz.Actor, id payment.DisputeID) (payment.Dispute, error) {
	if err := actor.Require(payment.RoleService, payment.RoleSupport, payment.RoleAdmin); err != nil {
		return payment.Dispute{}, err
	}
	d, err := c.Store.Dispute(ctx, id)
	if err != nil {
		return payment.Dispute{}, err
	}
	a, err := c.Store.Attempt(ctx, d.AttemptID)
	if err != nil {
		return payment.Dispute{}, err
	}
	return d, actor.MayRead(a.UserID)
}

// attempt reads an attempt. Reads that come at the same time share one.
func (c *Commands) attempt(ctx context.Context, id payment.AttemptID) (payment.Attempt, error) {
	a, found, err := c.attempts.Get(ctx, id)
	switch {
	case err != nil:
		return a, fmt.Errorf("%w: %w", payment.ErrUnavailable, err)
	case !found:
		return a, payment.ErrAttemptNotFound
	}
	return a, nil
}

// byRequest reads the attempt that a request made, with its first charge.
func (c *Commands) byRequest(ctx context.Context, name payment.RequestName) (payment.Attempt, error) {
	a, found, err := c.requests.Get(ctx, name)
	switch {
	case err != nil:
		return a, fmt.Errorf("%w: %w", payment.ErrUnavailable, err)
	case !found:
		return a, payment.ErrAttemptNotFound
	}
	return a, nil
}
