package paypal

import (
	"context"
	"errors"
	"fmt"
	"github.com/paylatch/paylatch/internal/provider/call"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// orderRequest creates an order
// (https://developer.paypal.com/docs/api/orders/v2/#orders_create).
type orderRequest struct {
	Intent        string                   `json:"intent"`
	PurchaseUnits []unitRequest            `json:"purchase_units"`
	PaymentSource map[string]sourceRequest `json:"payment_source"`
}

type unitRequest struct {
	// CustomID is the attempt, read by the webhooks' adapter.
	CustomID string `json:"custom_id"`
	Amount   amount `json:"amount"`
}

type sourceRequest struct {
	VaultID    string             `json:"vault_id,omitempty"`
	Stored     *storedCredential  `json:"stored_credential,omitempty"`
	Experience *experienceContext `json:"experience_context,omitempty"`
}

type storedCredential struct {
	PaymentInitiator string `json:"payment_initiator"`
	PaymentType      string `json:"payment_type"`
	Usage            string `json:"usage"`
}

type experienceContext struct {
	ReturnURL  string `json:"return_url"`
	CancelURL  string `json:"cancel_url"`
	UserAction string `json:"user_action,omitempty"`
}

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n call.Needs
	n.Data(ch.Details)
	return n.Err()
}

// Charge implements gateway.Provider. The token selects the method: "paypal" for the
// wallet, which the customer approves on PayPal's page; "paypal:ID" or "card:ID" for a
// method in PayPal's vault, charged at once
// (https://developer.paypal.com/docs/checkout/save-payment-methods/). Anything else is
// not sent.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return gateway.Outcome{}, err
	}
	request, err := requestOf(ch)
	if err != nil {
		return gateway.Outcome{}, err
	}
	var made order
	refused, err := c.post(ctx, ordersPath, ch.IdempotencyKey, ch.Permit, request, &made)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused != nil:
		return gateway.Outcome{News: fsm.NewsFailed, Refused: !refused.declined(), Failure: refused.failure()}, nil
	}
	return outcome(made)
}

var errToken = errors.New("the token is none of paypal, paypal:ID and card:ID")

func requestOf(ch gateway.Charge) (orderRequest, error) {
	sum, err := amountOf(ch.Money)
	if err != nil {
		return orderRequest{}, err
	}
	kind, id, vaulted := strings.Cut(ch.Token, ":")
	if kind != "paypal" && (kind != "card" || !vaulted) || vaulted && id == "" {
		return orderRequest{}, fmt.Errorf("%w: %w", gateway.ErrUnfit, errToken)
	}
	source := sourceRequest{VaultID: id}
	if kind == "card" {
		source.Stored = &storedCredential{PaymentInitiator: "CUSTOMER", PaymentType: "ONE_TIME", Usage: "SUBSEQUENT"}
	}
	if ch.ReturnURL != "" {
		source.Experience = &experienceContext{ReturnURL: ch.ReturnURL, CancelURL: ch.ReturnURL}
		if kind == "paypal" {
			source.Experience.UserAction = "PAY_NOW"
		}
	}
	intent := "CAPTURE"
	if ch.Capture == payment.CaptureManual {
		intent = "AUTHORIZE"
	}
	return orderRequest{
		Intent: intent, PurchaseUnits: []unitRequest{{CustomID: ch.Attempt.String(), Amount: sum}},
		PaymentSource: map[string]sourceRequest{kind: source},
	}, nil
}

// Complete implements gateway.Provider: it captures or authorizes an order that its customer has approved
// (https://developer.paypal.com/docs/api/orders/v2/#orders_capture). A decline leaves
// an order that can still be paid by another method.
func (c *Client) Complete(ctx context.Context, ch gateway.Completion) (gateway.Outcome, error) {
	verb := "/capture"
	if ch.Capture == payment.CaptureManual {
		verb = "/authorize"
	}
	var done order
	refused, err := c.post(ctx, ordersPath+"/"+url.PathEscape(ch.ProviderPaymentID)+verb, ch.IdempotencyKey, ch.Permit, struct{}{}, &done)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused == nil:
		return outcome(done)
	case refused.missing():
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	case refused.turnedAway():
		return gateway.Outcome{}, refused
	}
	now, err := c.Lookup(ctx, ch.ProviderPaymentID)
	if now.News == fsm.NewsActionRequired {
		now.News, now.Approved, now.NextAction, now.Failure = fsm.NewsSoftFailed, false, nil, refused.failure()
	}
	return now, err
}
