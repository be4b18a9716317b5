package cloudpayments

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// proof is the answer to the cryptogram of a card with 3-D Secure
// (https://developers.cloudpayments.ru/#obrabotka-3-d-secure).
type proof struct {
	TransactionID json.Number `json:"TransactionId"`
	PaReq         string      `json:"PaReq"`
	AcsURL        string      `json:"AcsUrl"`
}

// begun reads the answer to a charge: a transaction, or the form that sends the customer to the bank and back.
func begun(a answer, back string) (gateway.Outcome, error) {
	var p proof
	if a.Success || json.Unmarshal(a.Model, &p) != nil || p.PaReq == "" || p.AcsURL == "" {
		return read(a)
	}
	id := string(p.TransactionID)
	if id == "" || id == "0" {
		return gateway.Outcome{}, errNameless
	}
	return gateway.Outcome{Event: fsm.EventActionRequired, ProviderPaymentID: id, NextAction: &payment.NextAction{
		Type: payment.ActionPostForm, URL: p.AcsURL, Fields: map[string]string{"PaReq": p.PaReq, "MD": id, "TermUrl": back},
	}}, nil
}

// returned is the result of the bank's form. MD is the transaction's number.
type returned struct {
	MD    json.Number `json:"MD"`
	PaRes string      `json:"PaRes"`
}

var errNotItsProof = errors.New("not MD and PaRes of this payment's transaction")

func (r *returned) read(c gateway.Completion) (json.Number, error) {
	id, err := transactionOf(c.ProviderPaymentID)
	if err != nil {
		return "", err
	}
	if json.Unmarshal(c.Details, r) != nil || r.MD != id || strings.TrimSpace(r.PaRes) == "" {
		return "", fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, errNotItsProof)
	}
	return id, nil
}

type proofRequest struct {
	TransactionID json.Number `json:"TransactionId"`
	PaRes         string      `json:"PaRes"`
}

// Complete implements gateway.Provider. It completes 3-D Secure and the charge
// (https://developers.cloudpayments.ru/#obrabotka-3-d-secure) with the bank's POST to the return address: MD and PaRes.
// It does not send the proof of another payment's transaction.
func (c *Client) Complete(ctx context.Context, cp gateway.Completion) (gateway.Outcome, error) {
	var r returned
	id, err := r.read(cp)
	if err != nil {
		return gateway.Outcome{}, err
	}
	a, err := c.command(ctx, "/payments/cards/post3ds", cp.IdempotencyKey, cp.Permit, proofRequest{id, r.PaRes})
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case !a.Success && a.Model == nil:
		return c.unproven(ctx, id, a)
	}
	return read(a)
}

// unproven looks the transaction up after a refusal. The refusal concerns this call only, because an earlier call may
// have completed the transaction.
func (c *Client) unproven(ctx context.Context, id json.Number, a answer) (gateway.Outcome, error) {
	t, err := c.transaction(ctx, "/payments/get", transactionRequest{id})
	if err != nil {
		return gateway.Outcome{}, err
	}
	now, err := t.outcome()
	if now.Event == fsm.EventActionRequired || now.Event == fsm.EventProcessing {
		now.Refused, now.Failure = true, payment.NewFailure("provider_rejected", a.code())
	}
	return now, err
}
