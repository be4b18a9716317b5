package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
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
	order, err := s.Reads.Order(ctx, x.Actor, id)
	if err != nil {
		return nil, err
	}
	return response{http.StatusOK, s.renderOf(ctx, order.UserID).Order(order)}, nil
}

// AmendOrder handles PATCH /v1/orders/{order_id}.
func (s *server) AmendOrder(ctx context.Context, r gen.AmendOrderRequestObject) (gen.AmendOrderResponseObject, error) {
	x := ExchangeOf(ctx)
	id, err := x.OrderID(r.OrderID)
	if err != nil {
		return nil, err
	}
	cmd := commands.AmendOrder{
		OrderID: id, Amount: r.Body.Amount, Currency: (*payment.Currency)(r.Body.Currency), Description: r.Body.Description,
		Metadata: valueOf(r.Body.Metadata), ExpectedVersion: r.Body.ExpectedVersion,
		Body: func(o payment.Order) []byte { return render.JSON(s.render.Order(o)) },
	}
	if r.Body.Lines != nil {
		cmd.Lines = &[]gateway.Line{}
		recast(r.Body.Lines, cmd.Lines)
	}
	if r.Body.Customer != nil {
		cmd.Customer = &gateway.Customer{}
		recast(r.Body.Customer, cmd.Customer)
	}
	amended, err := s.Payments.AmendOrder(ctx, x.Actor, x.Command(string(id)), cmd)
	if err != nil {
		return nil, x.Failed(amended.Result, err)
	}
	x.SetResult(amended.Result)
	if amended.Body != nil {
		return response{http.StatusOK, json.RawMessage(amended.Body)}, nil
	}
	return response{http.StatusOK, s.render.Order(amended.Order)}, nil
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
