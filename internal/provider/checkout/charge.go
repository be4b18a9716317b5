package checkout

import (
	"context"
	"github.com/paylatch/paylatch/internal/provider/call"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// paymentRequest is as much of POST /payments as a charge needs
// (https://api-reference.checkout.com/#operation/requestAPaymentOrPayout).
type paymentRequest struct {
	Source     source            `json:"source"`
	Customer   *customer         `json:"customer,omitempty"`
	Amount     int64             `json:"amount"`
	Currency   string            `json:"currency"`
	Reference  string            `json:"reference"`
	Capture    bool              `json:"capture"`
	ThreeDS    *threeDS          `json:"3ds,omitempty"`
	SuccessURL string            `json:"success_url,omitempty"`
	FailureURL string            `json:"failure_url,omitempty"`
	Metadata   map[string]string `json:"metadata"`
	Channel    string            `json:"processing_channel_id,omitempty"`
}

type source struct {
	Type  string `json:"type"`
	Token string `json:"token,omitempty"`
	ID    string `json:"id,omitempty"`
}

type customer struct {
	ID string `json:"id"`
}

type threeDS struct {
	Enabled    bool `json:"enabled"`
	AttemptN3D bool `json:"attempt_n3d"`
}

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n call.Needs
	n.Data(ch.Details)
	return n.Err()
}

// Charge implements gateway.Provider. A token is one of the browser's (tok_…) or a
// stored instrument (src_…). A return URL turns on 3-D Secure wherever the card's bank
// takes part; without one it is off. A decline is final.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return gateway.Outcome{}, err
	}
	units, err := digits.Units(ch.Money)
	if err != nil {
		return gateway.Outcome{}, err
	}
	p := paymentRequest{
		Source: source{Type: "token", Token: ch.Token}, Amount: units, Currency: string(ch.Money.Currency),
		Channel: c.Channel, Reference: ch.Attempt.String(), Capture: ch.Capture != payment.CaptureManual,
		Metadata: map[string]string{"payment_attempt_id": ch.Attempt.String(), "order_id": string(ch.Order)},
	}
	if ch.Stored {
		p.Source, p.Customer = source{Type: "id", ID: ch.Token}, &customer{ch.Customer.Reference}
	}
	if ch.ReturnURL != "" {
		p.SuccessURL, p.FailureURL, p.ThreeDS = ch.ReturnURL, ch.ReturnURL, &threeDS{Enabled: true, AttemptN3D: true}
	}
	var made paid
	refused, err := c.post(ctx, "/payments", ch.IdempotencyKey, ch.Permit, p, &made)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused != nil:
		return gateway.Outcome{
			News: fsm.NewsFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", refused.code()),
		}, nil
	}
	return outcome(made)
}
