package adyen

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

type amount struct {
	Value    int64  `json:"value"`
	Currency string `json:"currency"`
}

// paymentRequest is the part of POST /payments that a charge needs
// (https://docs.adyen.com/api-explorer/Checkout/72/post/payments).
type paymentRequest struct {
	shopper

	MerchantAccount string            `json:"merchantAccount"`
	Reference       string            `json:"reference"`
	OrderReference  string            `json:"merchantOrderReference,omitempty"`
	Amount          amount            `json:"amount"`
	PaymentMethod   json.RawMessage   `json:"paymentMethod"`
	ReturnURL       string            `json:"returnUrl,omitempty"`
	Interaction     string            `json:"shopperInteraction,omitempty"`
	Model           string            `json:"recurringProcessingModel,omitempty"`
	CaptureDelay    *int              `json:"captureDelayHours,omitempty"`
	AdditionalData  map[string]string `json:"additionalData,omitempty"`
}

var (
	errOtherCapture = errors.New("this charge requests another capture than the account's setting `capture` has")
	errShopper      = errors.New("the customer's reference is too short for a stored payment method: Adyen requires at least three characters")
	errCardNumber   = errors.New("a payment method with a card's number or code in the clear is not passed on")
)

// Charge implements gateway.Provider. A token is the id of a payment method that was stored for the customer (the
// shopperReference), or a payment method from Adyen's components, which is a JSON object. Such an object needs no
// customer. If the reference is too short for Adyen, the object is sent without a customer. A refusal is final.
//
// A charge with another capture mode than the account's is not sent; see [Account].
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return gateway.Outcome{}, err
	}
	request, err := c.paymentRequest(ch)
	if err != nil {
		return gateway.Outcome{}, fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, err)
	}
	body, err := kit.Extend(request, ch.ProviderData, providerData())
	if err != nil {
		return gateway.Outcome{}, err
	}
	var made paymentResponse
	refused, err := c.post(ctx, "/payments", ch.IdempotencyKey, ch.Permit, body, http.StatusOK, &made)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused != nil:
		return gateway.Outcome{
			Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", refused.Code),
		}, nil
	}
	return c.outcome(made)
}

func (c *Client) paymentRequest(ch gateway.Charge) (paymentRequest, error) {
	if c.captures != (ch.Capture != payment.CaptureManual) {
		return paymentRequest{}, errOtherCapture
	}
	units, err := digits.Units(ch.Money)
	if err != nil {
		return paymentRequest{}, err
	}
	p := paymentRequest{
		shopper: shopperOf(ch), MerchantAccount: c.merchant, Reference: ch.Attempt.String(), OrderReference: string(ch.Order),
		Amount: amount{units, string(ch.Money.Currency)}, ReturnURL: ch.ReturnURL,
	}
	if c.captures {
		p.CaptureDelay = new(0)
	} else {
		p.AdditionalData = map[string]string{"manualCapture": "true"}
	}
	return p, p.pay(ch.Details)
}

// pay sets the method. A stored method is used for a one-off payment while the shopper is present
// (https://docs.adyen.com/online-payments/tokenization/create-and-use-tokens).
func (p *paymentRequest) pay(d gateway.Details) error {
	if (d.Save || !strings.HasPrefix(d.Token, "{")) && p.shopper.Reference == "" {
		return errShopper
	}
	if d.Save {
		p.Interaction, p.Model = "Ecommerce", "CardOnFile"
	}
	if !strings.HasPrefix(d.Token, "{") {
		p.Interaction, p.Model = "ContAuth", "CardOnFile"
		if d.Unattended {
			p.Model = "UnscheduledCardOnFile"
		}
		var err error
		p.PaymentMethod, err = json.Marshal(map[string]string{"type": cmp.Or(d.MethodType, "scheme"), "storedPaymentMethodId": d.Token})
		return err //nolint:wrapcheck // strings always marshal
	}
	if _, err := readMethod(d.Token); err != nil {
		return err
	}
	p.PaymentMethod = json.RawMessage(d.Token)
	return nil
}

// readMethod parses a component's payment method and returns its type.
func readMethod(token string) (kind string, err error) {
	var method map[string]json.RawMessage
	if err := json.Unmarshal([]byte(token), &method); err != nil {
		return "", fmt.Errorf("read the payment method: %w", err)
	}
	for name := range method {
		switch strings.ToLower(name) {
		case "number", "cvc", "expirymonth", "expiryyear":
			return "", errCardNumber
		}
	}
	_ = json.Unmarshal(method["type"], &kind) // Adyen refuses a method without a type
	return kind, nil
}
