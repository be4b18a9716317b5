package api

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/engine/commands"
)

// Complete handles POST /v1/payment-attempts/{payment_attempt_id}/complete.
func (s *server) Complete(ctx context.Context, r gen.CompleteRequestObject) (gen.CompleteResponseObject, error) {
	x := ExchangeOf(ctx)
	id, err := x.AttemptID(r.PaymentAttemptID)
	if err != nil {
		return nil, err
	}
	cmd := commands.Complete{AttemptID: id, Details: r.Body.Details}
	reply, err := s.Payments.Complete(ctx, x.Actor, x.Command(id.String()), cmd)
	return s.attemptResponse(x, reply, err)
}

// Confirm handles POST /v1/payment-attempts/{payment_attempt_id}/confirm.
func (s *server) Confirm(ctx context.Context, r gen.ConfirmRequestObject) (gen.ConfirmResponseObject, error) {
	x := ExchangeOf(ctx)
	id, err := x.AttemptID(r.PaymentAttemptID)
	if err != nil {
		return nil, err
	}
	body := valueOf(r.Body)
	cmd := commands.Confirm{AttemptID: id, Amount: body.Amount, Final: body.Final}
	recast(body.ProviderData, &cmd.ProviderData)
	reply, err := s.Payments.Confirm(ctx, x.Actor, x.Command(id.String()), cmd)
	return s.attemptResponse(x, reply, err)
}

// CancelAttempt handles POST /v1/payment-attempts/{payment_attempt_id}/cancel.
func (s *server) CancelAttempt(ctx context.Context, r gen.CancelAttemptRequestObject) (gen.CancelAttemptResponseObject, error) {
	x := ExchangeOf(ctx)
	id, err := x.AttemptID(r.PaymentAttemptID)
	if err != nil {
		return nil, err
	}
	reply, err := s.Payments.Cancel(ctx, x.Actor, x.Command(id.String()), id)
	return s.attemptResponse(x, reply, err)
}

// attemptResponse is the response to a command on an attempt.
func (s *server) attemptResponse(x *Exchange, reply commands.Reply, err error) (response, error) {
	if err != nil {
		return response{}, x.Failed(reply.Result, err)
	}
	x.SetReply(reply)
	return response{http.StatusOK, s.shown(x, reply.View)}, nil
}
