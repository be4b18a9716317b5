package checkout

import (
	"context"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// paymentRequest is the part of POST /payments that a charge needs
// (https://api-reference.checkout.com/#operation/requestAPaymentOrPayout).
type paymentRequest struct {
	Source     *source           `json:"source,omitempty"`
	Customer   *customer         `json:"customer,omitempty"`
	Amount     int64             `json:"amount"`
	Currency   string            `json:"currency"`
	Reference  string            `json:"reference"`
	Capture    bool              `json:"capture"`
	SuccessURL string            `json:"success_url,omitempty"`
	FailureURL string            `json:"failure_url,omitempty"`
	Metadata   map[string]string `json:"metadata"`
	Channel    string            `json:"processing_channel_id,omitempty"`
	Type       string            `json:"payment_type,omitempty"`
	Merchant   bool              `json:"merchant_initiated,omitempty"`
	IP         string            `json:"payment_ip,omitempty"`
	Shipping   *shipping         `json:"shipping,omitempty"`
	Items      []item            `json:"items,omitempty"`

	// Of a payment session.
	Billing   *shipping `json:"billing,omitempty"`
	ExpiresOn string    `json:"expires_on,omitempty"`
}

// source is the payment method. Store is sent with a token: Checkout.com stores the card unless Store is false.
type source struct {
	Type    string   `json:"type"`
	Token   string   `json:"token,omitempty"`
	ID      string   `json:"id,omitempty"`
	Store   *bool    `json:"store_for_future_use,omitempty"`
	Billing *address `json:"billing_address,omitempty"`

	// Of a local method.
	Description string `json:"description,omitempty"`
	Country     string `json:"payment_country,omitempty"`
	Holder      string `json:"account_holder_name,omitempty"`
	Purpose     string `json:"purpose,omitempty"`
}

// Charge implements gateway.Provider. A token is a token of the browser (tok_…), a stored instrument (src_…), the name of
// a local method, or "flow" for a payment session. A return URL turns on 3-D Secure if the card's bank takes part;
// without a return URL, 3-D Secure is off. A decline is final, except in a payment session.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return gateway.Outcome{}, err
	}
	request, err := c.request(ch)
	if err != nil {
		return gateway.Outcome{}, err
	}
	body, err := extend(request, ch.Details)
	if err != nil {
		return gateway.Outcome{}, err
	}
	if ch.Token == flow {
		return c.session(ctx, ch, request.ExpiresOn, body)
	}
	var made paid
	refused, err := c.api.Post(ctx, "/payments", keyed(ch.IdempotencyKey), ch.Permit, body, &made)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused != nil:
		return refused.charge(), nil
	}
	made.Metadata = body["metadata"]
	return outcome(made)
}

func (c *Client) request(ch gateway.Charge) (paymentRequest, error) {
	units, err := units(ch.Money)
	if err != nil {
		return paymentRequest{}, err
	}
	p := paymentRequest{
		Source: sourceOf(ch), Customer: customerOf(ch.Details), Amount: units, Currency: string(ch.Money.Currency),
		Channel: c.Channel, Reference: referenceOf(ch), Capture: ch.Capture != payment.CaptureManual, Metadata: marks(ch),
		IP: ch.Customer.IP, Shipping: shippingOf(ch.Customer), Items: itemsOf(ch),
	}
	if ch.ReturnURL != "" && !ch.Unattended {
		p.SuccessURL, p.FailureURL = ch.ReturnURL, ch.ReturnURL
	}
	if ch.Unattended {
		p.Type, p.Merchant = "Unscheduled", true
	}
	if ch.Token == flow {
		p.Source, p.IP, p.Billing, p.ExpiresOn = nil, "", &shipping{addressOf(ch.Customer.Billing)}, c.expiry()
	}
	return p, nil
}

// saves marks a payment that is to store its instrument. The mark is necessary, because every answer shows an
// instrument, even an instrument that was stored before.
const saves = "save_payment_method"

// inParts marks a payment with a hold that is captured in several parts: a lookup then names each capture.
const inParts = "several_captures"

func marks(ch gateway.Charge) map[string]string {
	m := map[string]string{"payment_attempt_id": ch.Attempt.String(), "order_id": string(ch.Order)}
	if ch.Save {
		m[saves] = "true"
	}
	if ch.Several {
		m[inParts] = "true"
	}
	return m
}
