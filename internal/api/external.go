package api

import (
	"context"
	"maps"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

// RegisterAttempt handles POST /v1/orders/{order_id}/attempts.
func (s *server) RegisterAttempt(ctx context.Context, r gen.RegisterAttemptRequestObject) (gen.RegisterAttemptResponseObject, error) {
	x := ExchangeOf(ctx)
	id, err := x.OrderID(r.OrderID)
	if err != nil {
		return nil, err
	}
	cmd, err := registerCommand(id, *r.Body)
	if err != nil {
		return nil, err
	}
	reply, err := s.Payments.Register(ctx, x.Actor, x.Command(string(id)), cmd)
	if err != nil {
		return nil, x.Failed(reply.Result, err)
	}
	x.SetReply(reply)
	body := s.shown(x, reply.View)
	token := s.Auth.StatusToken(reply.ID, s.Now().Add(s.StatusTokenLife))
	key := (&payment.Operation{AttemptID: reply.ID, Kind: payment.OperationCharge}).Key()
	body.StatusToken, body.ProviderIdempotencyKey = &token, &key
	body.ProviderReference = s.reference(reply.Attempt)
	return response{http.StatusCreated, body}, nil
}

// reference returns the reference that the shop gives the provider.
func (s *server) reference(a payment.Attempt) *gen.ProviderReference {
	text, metadata := s.Reference(a.Account, a.ID.String())
	ref := &gen.ProviderReference{Metadata: map[string]string{}}
	if text != "" {
		ref.Text = &text
	}
	maps.Copy(ref.Metadata, metadata)
	return ref
}

func registerCommand(id payment.OrderID, body gen.RegisterAttempt) (cmd commands.External, err error) {
	cmd = commands.External{
		OrderID: id, Account: valueOf(body.Account), ProviderPaymentID: valueOf(body.ProviderPaymentID),
		References: valueOf(body.References), Capture: payment.CaptureAutomatic, Amount: body.Amount,
	}
	if body.Capture != nil {
		cmd.Capture = payment.CaptureMode(*body.Capture)
	}
	if body.Currency != nil {
		currency := payment.Currency(*body.Currency)
		cmd.Currency = &currency
	}
	cmd.ExpiresIn = time.Duration(valueOf(body.ExpiresIn)) * time.Second
	cmd.Supersedes, err = superseded(body.Supersedes)
	return cmd, err
}

// superseded is the attempt that a pay supersedes; nil if there is none.
func superseded(text *string) (*payment.AttemptID, error) {
	if text == nil {
		return nil, nil
	}
	id, err := payment.ParseAttemptID(*text)
	if err != nil {
		return nil, payment.Invalid("supersedes", "must be an attempt of this order that was begun outside paylatch")
	}
	return &id, nil
}

// ReportAttempt handles POST /v1/payment-attempts/{payment_attempt_id}/report.
func (s *server) ReportAttempt(ctx context.Context, r gen.ReportAttemptRequestObject) (gen.ReportAttemptResponseObject, error) {
	x := ExchangeOf(ctx)
	id, err := x.AttemptID(r.PaymentAttemptID)
	if err != nil {
		return nil, err
	}
	cmd := commands.Report{
		AttemptID: id, ProviderPaymentID: valueOf(r.Body.ProviderPaymentID), References: valueOf(r.Body.References),
		Reason: valueOf(r.Body.Reason),
	}
	if r.Body.Outcome != nil {
		cmd.Outcome = commands.Outcome(*r.Body.Outcome)
	}
	reply, err := s.Payments.Report(ctx, x.Actor, x.Command(id.String()), cmd)
	return s.attemptResponse(x, reply, err)
}
