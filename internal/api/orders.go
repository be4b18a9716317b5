package api

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

// CreateOrder handles POST /v1/orders.
func (s *server) CreateOrder(ctx context.Context, r gen.CreateOrderRequestObject) (gen.CreateOrderResponseObject, error) {
	x := ExchangeOf(ctx)
	cmd := commands.CreateOrder{
		OrderID:     payment.OrderID(valueOf(r.Body.OrderID)),
		Money:       payment.Money{Minor: r.Body.Amount, Currency: payment.Currency(r.Body.Currency)},
		Description: valueOf(r.Body.Description),
		Metadata:    valueOf(r.Body.Metadata),
	}
	recast(r.Body.Lines, &cmd.Lines)
	recast(r.Body.Customer, &cmd.Customer)
	x.Order = cmd.OrderID
	order, result, err := s.Payments.CreateOrder(ctx, x.Actor, x.Command(), cmd)
	if err != nil {
		return nil, x.Failed(result, err)
	}
	x.Order = order.ID
	x.SetResult(result)
	return response{http.StatusCreated, s.render.Order(order)}, nil
}

// ReadOrder handles GET /v1/orders/{order_id}.
func (s *server) ReadOrder(ctx context.Context, r gen.ReadOrderRequestObject) (gen.ReadOrderResponseObject, error) {
	x := ExchangeOf(ctx)
	id, err := x.OrderID(r.OrderID)
	if err != nil {
		return nil, err
	}
	order, err := s.Payments.Order(ctx, x.Actor, id)
	if err != nil {
		return nil, err
	}
	return response{http.StatusOK, s.render.Order(order)}, nil
}

// CancelOrder handles POST /v1/orders/{order_id}/cancel.
func (s *server) CancelOrder(ctx context.Context, r gen.CancelOrderRequestObject) (gen.CancelOrderResponseObject, error) {
	x := ExchangeOf(ctx)
	id, err := x.OrderID(r.OrderID)
	if err != nil {
		return nil, err
	}
	order, result, err := s.Payments.CancelOrder(ctx, x.Actor, x.Command(string(id)), id)
	if err != nil {
		return nil, x.Failed(result, err)
	}
	x.SetResult(result)
	return response{http.StatusOK, s.render.Order(order)}, nil
}
