package api

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

// CreateOrder handles POST /v1/orders.
func (s *server) CreateOrder(ctx context.Context, r gen.CreateOrderRequestObject) (gen.CreateOrderResponseObject, error) {
	x := exchangeOf(ctx)
	cmd := commands.CreateOrder{
		OrderID:     payment.OrderID(valueOf(r.Body.OrderID)),
		Money:       payment.Money{Minor: r.Body.Amount, Currency: payment.Currency(r.Body.Currency)},
		Description: valueOf(r.Body.Description),
		Metadata:    valueOf(r.Body.Metadata),
	}
	recast(r.Body.Lines, &cmd.Lines)
	recast(r.Body.Customer, &cmd.Customer)
	x.Order = cmd.OrderID
	order, result, err := s.Payments.CreateOrder(ctx, x.actor, s.command(x), cmd)
	if err != nil {
		return nil, x.failed(result, err)
	}
	x.Order = order.ID
	x.setResult(result)
	return response{http.StatusCreated, s.render.Order(order)}, nil
}

// ReadOrder handles GET /v1/orders/{order_id}.
func (s *server) ReadOrder(ctx context.Context, r gen.ReadOrderRequestObject) (gen.ReadOrderResponseObject, error) {
	x := exchangeOf(ctx)
	id, err := x.orderID(r.OrderID)
	if err != nil {
		return nil, err
	}
	order, err := s.Payments.Order(ctx, x.actor, id)
	if err != nil {
		return nil, err
	}
	return response{http.StatusOK, s.render.Order(order)}, nil
}

// CancelOrder handles POST /v1/orders/{order_id}/cancel.
func (s *server) CancelOrder(ctx context.Context, r gen.CancelOrderRequestObject) (gen.CancelOrderResponseObject, error) {
	x := exchangeOf(ctx)
	id, err := x.orderID(r.OrderID)
	if err != nil {
		return nil, err
	}
	order, result, err := s.Payments.CancelOrder(ctx, x.actor, s.command(x, string(id)), id)
	if err != nil {
		return nil, x.failed(result, err)
	}
	x.setResult(result)
	return response{http.StatusOK, s.render.Order(order)}, nil
}

const longestOrderID = 128

// orderID refuses an id that no order can have as one that does not exist.
func (x *exchange) orderID(text string) (payment.OrderID, error) {
	if len(text) == 0 || len(text) > longestOrderID {
		return "", x.actor.Unseen(payment.ErrOrderNotFound)
	}
	for _, r := range text {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		case r == '-', r == '_', r == '.', r == ':', r == '~':
		default:
			return "", x.actor.Unseen(payment.ErrOrderNotFound)
		}
	}
	x.Order = payment.OrderID(text)
	return x.Order, nil
}
