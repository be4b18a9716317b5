package cloudpayments

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// page is the token of a payment on CloudPayments' page.
const page = "redirect"

// chargeRequest charges a token
// (https://developers.cloudpayments.ru/#oplata-po-tokenu-rekarring), and with its
// last members makes an order
// (https://developers.cloudpayments.ru/#sozdanie-scheta-dlya-otpravki-po-pochte).
type chargeRequest struct {
	Amount          json.Number       `json:"Amount"`
	Currency        string            `json:"Currency"`
	InvoiceID       string            `json:"InvoiceId"`
	AccountID       string            `json:"AccountId,omitempty"`
	Data            map[string]string `json:"JsonData"`
	Token           string            `json:"Token,omitempty"`
	TrInitiatorCode int               `json:"TrInitiatorCode,omitempty"`

	Description         string `json:"Description,omitempty"`
	RequireConfirmation bool   `json:"RequireConfirmation,omitempty"`
	SuccessRedirectURL  string `json:"SuccessRedirectUrl,omitempty"`
	FailRedirectURL     string `json:"FailRedirectUrl,omitempty"`
}

// byCustomer marks a payment as initiated by the customer, not the shop.
const byCustomer = 1

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n call.Needs
	n.Data(ch.Details)
	return n.Err()
}

// Charge implements gateway.Provider. A card's token belongs to an AccountId: that is
// the customer's reference.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return gateway.Outcome{}, err
	}
	r, err := requestOf(ch)
	if err != nil {
		return gateway.Outcome{}, err
	}
	if ch.Token == page {
		return c.order(ctx, ch, r)
	}
	r.Token, r.TrInitiatorCode = ch.Token, byCustomer
	path := "/payments/tokens/charge"
	if ch.Capture == payment.CaptureManual {
		path = "/payments/tokens/auth"
	}
	a, err := c.command(ctx, path, ch.IdempotencyKey, ch.Permit, r)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case !a.Success && a.Model == nil:
		return refused(a), nil
	}
	return read(a)
}

func requestOf(ch gateway.Charge) (chargeRequest, error) {
	amount, err := call.Decimal(ch.Money)
	return chargeRequest{
		Amount: json.Number(amount), Currency: string(ch.Money.Currency), InvoiceID: ch.Attempt.String(), AccountID: ch.Customer.Reference,
		// Read by the webhooks' adapter.
		Data: map[string]string{"payment_attempt_id": ch.Attempt.String(), "order_id": string(ch.Order)},
	}, err
}

// order creates a page. Its payment is named by the order's id, which cancels it, and
// by our reference, which finds its transactions.
func (c *Client) order(ctx context.Context, ch gateway.Charge, r chargeRequest) (gateway.Outcome, error) {
	r.Description, r.RequireConfirmation = string(ch.Order), ch.Capture == payment.CaptureManual
	r.SuccessRedirectURL, r.FailRedirectURL = ch.ReturnURL, ch.ReturnURL
	a, err := c.command(ctx, "/orders/create", ch.IdempotencyKey, ch.Permit, r)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case !a.Success:
		return refused(a), nil
	}
	var made struct {
		ID  string `json:"Id"`
		URL string `json:"Url"`
	}
	if err := json.Unmarshal(a.Model, &made); err != nil {
		return gateway.Outcome{}, fmt.Errorf("read an order: %w", err)
	}
	if made.ID == "" || made.URL == "" {
		return gateway.Outcome{}, errNameless
	}
	return gateway.Outcome{
		News: fsm.NewsActionRequired, NextAction: payment.Redirect(made.URL),
		ProviderPaymentID: name{order: made.ID, invoice: ch.Attempt.String()}.String(), References: []string{made.ID},
	}, nil
}

func refused(a answer) gateway.Outcome {
	return gateway.Outcome{News: fsm.NewsFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", a.code())}
}
