package api

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

// Pay handles POST /v1/orders/{order_id}/pay.
func (s *server) Pay(ctx context.Context, r gen.PayRequestObject) (gen.PayResponseObject, error) {
	x := exchangeOf(ctx)
	id, err := x.orderID(r.OrderID)
	if err != nil {
		return nil, err
	}
	cmd := payCommand(id, *r.Body)
	if cmd.Supersedes, err = superseded(r.Body.Supersedes); err != nil {
		return nil, err
	}
	reply, err := s.Payments.Pay(ctx, x.actor, s.command(x, string(id)), cmd)
	if err != nil {
		return nil, x.failed(reply.Result, err)
	}
	x.setReply(reply)
	body := s.shown(x, reply.View)
	token := s.Auth.StatusToken(reply.ID, s.Now().Add(s.StatusTokenLife))
	body.StatusToken = &token
	return response{http.StatusCreated, body}, nil
}

func payCommand(id payment.OrderID, body gen.Pay) commands.Pay {
	cmd := commands.Pay{
		OrderID: id, Account: valueOf(body.Account), Token: body.PaymentMethod.Token,
		MethodType: valueOf(body.PaymentMethod.Type), Stored: valueOf(body.PaymentMethod.Stored),
		Capture: payment.CaptureAutomatic, ReturnURL: valueOf(body.ReturnURL), Amount: body.Amount,
	}
	if body.Customer != nil {
		cmd.Customer = valueOf(body.Customer.Reference)
	}
	if body.Capture != nil {
		cmd.Capture = payment.CaptureMode(*body.Capture)
	}
	if body.Currency != nil {
		currency := payment.Currency(*body.Currency)
		cmd.Currency = &currency
	}
	return cmd
}
