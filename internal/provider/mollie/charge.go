package mollie

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// chargeRequest creates a payment (https://docs.mollie.com/reference/create-payment).
type chargeRequest struct {
	Amount       amount            `json:"amount"`
	Description  string            `json:"description"`
	RedirectURL  *string           `json:"redirectUrl"`
	WebhookURL   string            `json:"webhookUrl,omitempty"`
	CaptureMode  string            `json:"captureMode,omitempty"`
	Metadata     map[string]string `json:"metadata"`
	Method       string            `json:"method,omitempty"`
	CardToken    string            `json:"cardToken,omitempty"`
	SequenceType string            `json:"sequenceType,omitempty"`
	CustomerID   string            `json:"customerId,omitempty"`
	MandateID    string            `json:"mandateId,omitempty"`
	Locale       string            `json:"locale,omitempty"`
	Billing      *person           `json:"billingAddress,omitempty"`
	Shipping     *person           `json:"shippingAddress,omitempty"`
	Lines        []line            `json:"lines,omitempty"`
}

// Charge implements gateway.Provider. The token selects the method. "redirect" offers all methods on Mollie's page. A
// token of Mollie Components (tkn_…) is a card. A customer with a mandate (cst_…, cst_…:mdt_… or mdt_…) is charged at
// once (https://docs.mollie.com/docs/recurring-payments). Any other token is the name of a method, with its page.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return gateway.Outcome{}, err
	}
	request, err := c.requestOf(ch)
	if err != nil {
		return gateway.Outcome{}, err
	}
	body, err := kit.Extend(request, ch.ProviderData, providerData())
	if err != nil {
		return gateway.Outcome{}, err
	}
	var made object
	refused, err := c.command(ctx, http.MethodPost, "/payments", ch.IdempotencyKey, ch.Permit, body, &made)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused != nil:
		return gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", refused.code())}, nil
	}
	return outcome(made)
}

func (c *Client) requestOf(ch gateway.Charge) (chargeRequest, error) {
	value, err := kit.Decimal(ch.Money)
	if err != nil {
		return chargeRequest{}, err
	}
	lines, err := linesOf(ch)
	if err != nil {
		return chargeRequest{}, err
	}
	r := chargeRequest{
		// The description is shown on the statement, if the method supports that.
		Description: cmp.Or(ch.StatementDescriptor, string(ch.Order)),
		Amount:      amount{string(ch.Money.Currency), value}, WebhookURL: c.webhook,
		Locale: localeOf(ch.Customer.Locale), Billing: billed(ch.Customer), Shipping: shipped(ch.Customer), Lines: lines,
		// The webhook reader uses the metadata.
		Metadata: map[string]string{"payment_attempt_id": ch.Attempt.String(), "order_id": string(ch.Order)},
	}
	if ch.ReturnURL != "" {
		r.RedirectURL = &ch.ReturnURL
	}
	if ch.Capture == payment.CaptureManual {
		r.CaptureMode = "manual"
	}
	return r, r.pay(ch)
}

// pay sets the method. A mandate is charged for the customer of the charge: Mollie does not find another customer's
// mandate by its id. The first payment of a customer creates a mandate.
func (r *chargeRequest) pay(ch gateway.Charge) error {
	if ch.Save {
		r.SequenceType, r.CustomerID = "first", ch.Customer.Reference
	}
	switch kind, _, _ := strings.Cut(ch.Token, "_"); {
	case ch.Token == "redirect":
	case kind == "tkn":
		r.Method, r.CardToken = "creditcard", ch.Token
	case ch.Stored:
		of, mandate := mandateOf(ch.Token)
		if of != "" && of != ch.Customer.Reference {
			return fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, payment.ErrMethodNotYours)
		}
		r.SequenceType, r.CustomerID, r.MandateID = "recurring", ch.Customer.Reference, mandate
	default:
		r.Method = ch.Token
	}
	return nil
}
