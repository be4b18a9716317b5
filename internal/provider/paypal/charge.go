package paypal

import (
	"context"
	"errors"
	"fmt"
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
	PaymentSource map[string]sourceRequest `json:"payment_source,omitempty"`
}

type unitRequest struct {
	unitData

	// ReferenceID is the method that PayPal's script takes. PayPal returns it.
	ReferenceID string `json:"reference_id,omitempty"`
	// CustomID is the attempt's id. The webhook reader uses it.
	CustomID   string        `json:"custom_id"`
	Amount     amountRequest `json:"amount"`
	Descriptor string        `json:"soft_descriptor,omitempty"`
	Items      []item        `json:"items,omitempty"`
	Shipping   *shipping     `json:"shipping,omitempty"`
}

type amountRequest struct {
	amount

	Breakdown *breakdown `json:"breakdown,omitempty"`
}

type sourceRequest struct {
	VaultID    string             `json:"vault_id,omitempty"`
	Email      string             `json:"email_address,omitempty"`
	Name       *name              `json:"name,omitempty"`
	Address    *postal            `json:"address,omitempty"`
	Attributes *attributes        `json:"attributes,omitempty"`
	Stored     *storedCredential  `json:"stored_credential,omitempty"`
	Experience *experienceContext `json:"experience_context,omitempty"`
}

type storedCredential struct {
	PaymentInitiator string `json:"payment_initiator"`
	PaymentType      string `json:"payment_type"`
	Usage            string `json:"usage"`
}

type experienceContext struct {
	pageData

	Locale     string `json:"locale,omitempty"`
	ReturnURL  string `json:"return_url,omitempty"`
	CancelURL  string `json:"cancel_url,omitempty"`
	UserAction string `json:"user_action,omitempty"`
}

// Charge implements gateway.Provider. The token selects the method. "paypal" is the wallet; the customer approves the
// payment on PayPal's page. "card", "apple_pay" and "google_pay" are for PayPal's script in the shop's page, which takes the
// order's id; then the order is completed (https://developer.paypal.com/expanded/card-fields). "paypal:ID" or "card:ID" is a
// method in PayPal's vault, which is charged at once
// (https://developer.paypal.com/docs/checkout/save-payment-methods/). A charge with another token is not sent.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return gateway.Outcome{}, err
	}
	request, err := requestOf(ch)
	if err != nil {
		return gateway.Outcome{}, err
	}
	var made order
	refused, err := c.api.Post(ctx, ordersPath, keyed(ch.IdempotencyKey), ch.Permit, request, &made)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused != nil:
		return gateway.Outcome{Event: fsm.EventFailed, Refused: !refused.declined(), Failure: refused.failure()}, nil
	}
	c.orders.note(made)
	return outcome(made)
}

var errToken = errors.New("the token must be paypal, card, apple_pay, google_pay, paypal:ID or card:ID")

func requestOf(ch gateway.Charge) (orderRequest, error) {
	sum, err := amountOf(ch.Money)
	if err != nil {
		return orderRequest{}, err
	}
	kind, id, err := readToken(ch.Token)
	if err != nil {
		return orderRequest{}, err
	}
	intent := "CAPTURE"
	if ch.Capture == payment.CaptureManual {
		intent = "AUTHORIZE"
	}
	items, parts := itemsOf(ch)
	sources := map[string]sourceRequest{kind: sourceOf(kind, id, ch.Details)}
	method := ""
	if id == "" && scripted(kind) {
		method = kind
	}
	if kind == "apple_pay" {
		sources = nil // the script adds the source (https://developer.paypal.com/apple-pay/integrate)
	}
	unit := unitRequest{
		unitData: unitDataOf(ch.Details), ReferenceID: method, CustomID: ch.Attempt.String(), Amount: amountRequest{sum, parts}, Descriptor: ch.StatementDescriptor,
		Items: items, Shipping: shippingOf(ch.Customer),
	}
	return orderRequest{Intent: intent, PurchaseUnits: []unitRequest{unit}, PaymentSource: sources}, nil
}

// readToken parses the token: a method, or paypal:ID or card:ID.
func readToken(token string) (kind, id string, err error) {
	kind, id, vaulted := strings.Cut(token, ":")
	if kind != "paypal" && !scripted(kind) || vaulted && (id == "" || kind != "paypal" && kind != "card") {
		return "", "", fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, errToken)
	}
	return kind, id, nil
}

func sourceOf(kind, id string, d gateway.Details) sourceRequest {
	source := sourceRequest{VaultID: id}
	page := experienceContext{ReturnURL: d.ReturnURL, CancelURL: d.ReturnURL}
	switch {
	case kind == "card" && id != "":
		source.Stored = credential(d)
	case kind != "paypal":
		source.Attributes = &attributes{Verification: verificationOf(d)}
	case d.ReturnURL != "":
		page.show(d)
	}
	if kind == "paypal" && id == "" {
		source.wallet(d)
	}
	if d.ReturnURL != "" && kind != "google_pay" {
		source.Experience = &page
	}
	return source
}
