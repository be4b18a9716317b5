package api

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Pay handles POST /v1/orders/{order_id}/pay.
func (s *server) Pay(ctx context.Context, r gen.PayRequestObject) (gen.PayResponseObject, error) {
	x := ExchangeOf(ctx)
	id, err := x.OrderID(r.OrderID)
	if err != nil {
		return nil, err
	}
	cmd := payCommand(id, *r.Body)
	if cmd.Supersedes, err = superseded(r.Body.Supersedes); err != nil {
		return nil, err
	}
	reply, err := s.Payments.Pay(ctx, x.Actor, x.Command(string(id)), cmd)
	if err != nil {
		return nil, x.Failed(reply.Result, err)
	}
	x.SetReply(reply)
	body := s.shown(x, reply.View)
	token := s.Auth.StatusToken(reply.ID, s.Now().Add(s.StatusTokenLife))
	body.StatusToken = &token
	return response{http.StatusCreated, body}, nil
}

func payCommand(id payment.OrderID, body gen.Pay) commands.Pay {
	cmd := commands.Pay{OrderID: id, Account: valueOf(body.Account), Details: detailsOf(body), Capture: payment.CaptureAutomatic, Amount: body.Amount}
	if body.Capture != nil {
		cmd.Capture = payment.CaptureMode(*body.Capture)
	}
	if body.Currency != nil {
		currency := payment.Currency(*body.Currency)
		cmd.Currency = &currency
	}
	return cmd
}

// detailsOf returns the details of a pay request. Nested members have the same names in gateway.Details.
func detailsOf(body gen.Pay) gateway.Details {
	d := gateway.Details{
		Token: body.PaymentMethod.Token, MethodType: valueOf(body.PaymentMethod.Type), Stored: valueOf(body.PaymentMethod.Stored),
		Save: valueOf(body.SavePaymentMethod), Unattended: valueOf(body.Initiator) == gen.PayInitiatorMerchant,
		ReturnURL: valueOf(body.ReturnURL), StatementDescriptor: valueOf(body.StatementDescriptor),
	}
	recast(body.Customer, &d.Customer)
	recast(body.Browser, &d.Browser)
	recast(body.Lines, &d.Lines)
	recast(body.ProviderData, &d.ProviderData)
	return d
}
