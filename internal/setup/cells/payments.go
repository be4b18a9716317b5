package cells

import (
	"context"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

// Payments are the use cases of the first cell, which create an order in the cell that its id leads to.
type Payments struct {
	api.Payments

	To    Map
	Cells map[payment.Cell]api.Payments
}

// CreateOrder creates an order in its cell, with its key.
func (p Payments) CreateOrder(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd commands.CreateOrder) (payment.Order, idempotency.Result, error) {
	return p.Cells[p.To.CellOfOrder(string(cmd.OrderID))].CreateOrder(ctx, actor, req, cmd)
}
