package payment

import (
	"context"
	"slices"
)

// Order reads an order with its attempts. It returns ErrForbidden when it is
// another user's, and to a customer when there is none.
func (s *Service) Order(ctx context.Context, actor Actor, id OrderID) (Order, error) {
	o, err := s.store.Order(ctx, id)
	if err != nil {
		return Order{}, actor.Unseen(err)
	}
	return o, actor.mayRead(o.UserID)
}

// Attempts reads the attempts of an order, oldest first; with a request only the
// one that it made, if it made one.
func (s *Service) Attempts(ctx context.Context, actor Actor, id OrderID, request RequestID) ([]View, error) {
	o, err := s.Order(ctx, actor, id)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(o.Views(), func(v View) bool { return request != "" && v.RequestID != request }), nil
}

// Attempt reads an attempt. Reading never changes anything.
func (s *Service) Attempt(ctx context.Context, actor Actor, id AttemptID) (View, error) {
	a, err := look(ctx, s.byID, id)
	if err != nil {
		return View{}, actor.Unseen(err)
	}
	if err := actor.mayReadAttempt(a.UserID, id); err != nil {
		return View{}, err
	}
	return s.show(ctx, a)
}

// Watched reads several attempts at once, for those who were allowed to read
// them before. What is not there is left out.
func (s *Service) Watched(ctx context.Context, ids []AttemptID) ([]View, error) {
	attempts, err := s.store.AttemptsByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	var failed []OrderID
	for _, a := range attempts {
		if a.Failed() {
			failed = append(failed, a.OrderID)
		}
	}
	orders, err := s.store.Orders(ctx, failed)
	if err != nil {
		return nil, err
	}
	views := make([]View, 0, len(attempts))
	for _, a := range attempts {
		views = append(views, view(a, orders[a.OrderID]))
	}
	return views, nil
}

// RefundStatus reads a refund. It returns ErrForbidden when it is of another
// user's payment.
func (s *Service) RefundStatus(ctx context.Context, actor Actor, id RefundID) (Refund, error) {
	r, err := s.store.Refund(ctx, id)
	if err != nil {
		return Refund{}, actor.Unseen(err)
	}
	a, err := s.store.Attempt(ctx, r.AttemptID)
	if err != nil {
		return Refund{}, err
	}
	return r, actor.mayRead(a.UserID)
}

// show adds what only the order can tell. Only a failed attempt needs to ask.
func (s *Service) show(ctx context.Context, a Attempt) (View, error) {
	if !a.Failed() {
		return View{Attempt: a}, nil
	}
	o, err := s.store.Order(ctx, a.OrderID)
	if err != nil {
		return View{}, err
	}
	return view(a, o), nil
}
