package api

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

// CreateRefund handles POST /v1/payment-attempts/{payment_attempt_id}/refunds.
func (s *server) CreateRefund(ctx context.Context, r gen.CreateRefundRequestObject) (gen.CreateRefundResponseObject, error) {
	x := ExchangeOf(ctx)
	id, err := x.AttemptID(r.PaymentAttemptID)
	if err != nil {
		return nil, err
	}
	body := valueOf(r.Body)
	cmd := commands.CreateRefund{
		AttemptID: id, Amount: body.Amount, Reason: valueOf(body.Reason), Expected: body.ExpectedRefundable,
		ProviderPaymentID: valueOf(body.ProviderPaymentID), AcknowledgeDispute: valueOf(body.AcknowledgeDispute),
	}
	recast(body.ProviderData, &cmd.ProviderData)
	refunded, err := s.Payments.Refund(ctx, x.Actor, x.Command(id.String()), cmd)
	if err != nil {
		return nil, x.Failed(refunded.Result, err)
	}
	x.SetResult(refunded.Result)
	x.AboutRefund(refunded.Refund)
	return response{http.StatusCreated, render.Refund(refunded.Refund)}, nil
}

// ReadRefund handles GET /v1/refunds/{refund_id}.
func (s *server) ReadRefund(ctx context.Context, r gen.ReadRefundRequestObject) (gen.ReadRefundResponseObject, error) {
	x := ExchangeOf(ctx)
	id, err := payment.ParseRefundID(r.RefundID)
	if err != nil {
		return nil, x.Actor.Unseen(err)
	}
	x.Refund = id.String()
	read, err := s.Reads.RefundStatus(ctx, x.Actor, id)
	if err != nil {
		return nil, err
	}
	x.AboutRefund(read)
	return response{http.StatusOK, render.Refund(read)}, nil
}
