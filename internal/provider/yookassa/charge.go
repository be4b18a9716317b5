package yookassa

import (
	"context"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// chargeRequest creates a payment (https://yookassa.ru/developers/api#create_payment).
type chargeRequest struct {
	Amount            amount            `json:"amount"`
	PaymentToken      string            `json:"payment_token,omitempty"`
	PaymentMethodID   string            `json:"payment_method_id,omitempty"`
	PaymentMethodData *methodData       `json:"payment_method_data,omitempty"`
	Confirmation      *confirmation     `json:"confirmation,omitempty"`
	Capture           bool              `json:"capture"`
	Metadata          map[string]string `json:"metadata"`
}

type methodData struct {
	Type string `json:"type"`
}

type confirmation struct {
	Type      string `json:"type"`
	ReturnURL string `json:"return_url"`
}

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n call.Needs
	n.Data(ch.Details)
	return n.Err()
}

// Charge implements gateway.Provider. A declined payment is cancelled at YooKassa for
// good.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return gateway.Outcome{}, err
	}
	request, err := requestOf(ch)
	if err != nil {
		return gateway.Outcome{}, err
	}
	var made object
	refused, err := c.post(ctx, "/payments", ch.IdempotencyKey, ch.Permit, request, &made)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused != nil:
		return gateway.Outcome{News: fsm.NewsFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", refused.Code)}, nil
	}
	return outcome(made)
}

func requestOf(ch gateway.Charge) (chargeRequest, error) {
	value, err := call.Decimal(ch.Money)
	if err != nil {
		return chargeRequest{}, err
	}
	r := chargeRequest{
		Amount: amount{value, string(ch.Money.Currency)}, Capture: ch.Capture == payment.CaptureAutomatic,
		// Read by the webhooks' adapter.
		Metadata: map[string]string{"payment_attempt_id": ch.Attempt.String(), "order_id": string(ch.Order)},
	}
	r.pay(ch.Token)
	if ch.ReturnURL != "" && r.PaymentMethodID == "" {
		r.Confirmation = &confirmation{"redirect", ch.ReturnURL}
	}
	return r, nil
}

// pay sets the method, by the form of the token: none for "redirect", so that the
// customer chooses on YooKassa's page; a method that the customer completes there; a
// saved method, which needs no confirmation; or else a single-use token
// (https://yookassa.ru/developers/payment-acceptance/getting-started/selecting-integration-scenario).
func (r *chargeRequest) pay(token string) {
	switch token {
	case "redirect":
		return
	case "bank_card", "cash", "sberbank", "tinkoff_bank", "yoo_money", "sbp", "sber_loan", "sber_bnpl", "alfa_pay":
		r.PaymentMethodData = &methodData{token}
		return
	}
	if isID(token) {
		r.PaymentMethodID = token
		return
	}
	r.PaymentToken = token
}

// idLength is the length of YooKassa's ids, which look like UUIDs.
const idLength = 36
