package lemonsqueezy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// page is the token of a charge on Lemon Squeezy's page.
const page = "redirect"

// attemptMember is the member of the custom data that the webhook reader uses.
const attemptMember = "payment_attempt_id"

// document is a JSON:API document of one object.
type document[A any] struct {
	Data object[A] `json:"data"`
}

type object[A any] struct {
	Type          string          `json:"type"`
	ID            string          `json:"id,omitempty"`
	Attributes    A               `json:"attributes"`
	Relationships map[string]link `json:"relationships,omitempty"`
}

type link struct {
	Data struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	} `json:"data"`
}

func to(kind, id string) (l link) {
	l.Data.Type, l.Data.ID = kind, id
	return l
}

// request has the attributes of POST /v1/checkouts that a charge needs
// (https://docs.lemonsqueezy.com/api/checkouts/create-checkout). The customer can buy only the one variant and can't
// enter a discount code, because either would change the amount. The preview shows the store's currency.
type request struct {
	CustomPrice int64           `json:"custom_price"`
	Product     productOptions  `json:"product_options"`
	Options     checkoutOptions `json:"checkout_options"`
	Data        checkoutData    `json:"checkout_data"`
	ExpiresAt   string          `json:"expires_at"`
	Preview     bool            `json:"preview"`
	TestMode    bool            `json:"test_mode,omitempty"`
}

type productOptions struct {
	Name        string        `json:"name"`
	RedirectURL string        `json:"redirect_url,omitempty"`
	Variants    []json.Number `json:"enabled_variants"`
}

type checkoutOptions struct {
	Discount bool `json:"discount"`
}

type checkoutData struct {
	Email   string            `json:"email,omitempty"`
	Name    string            `json:"name,omitempty"`
	Billing *billingAddress   `json:"billing_address,omitempty"`
	Custom  map[string]string `json:"custom"`
}

type billingAddress struct {
	Country string `json:"country,omitempty"`
	Zip     string `json:"zip,omitempty"`
}

// maxName is our limit. Lemon Squeezy documents none.
const maxName = 200

func (c *Client) requestOf(ch gateway.Charge) document[request] {
	r := request{
		CustomPrice: ch.Money.Minor, Preview: true, TestMode: c.store.Test, ExpiresAt: c.now().Add(c.store.LinkLife).UTC().Format(time.RFC3339),
		Product: productOptions{
			Name: kit.Short("Order "+string(ch.Order), maxName), RedirectURL: ch.ReturnURL, Variants: []json.Number{json.Number(c.store.Variant)},
		},
		Data: checkoutData{
			Email: ch.Customer.Email, Name: ch.Customer.Name,
			Custom: map[string]string{attemptMember: ch.Attempt.String(), "order_id": string(ch.Order)},
		},
	}
	if a := ch.Customer.Billing; a != nil {
		r.Data.Billing = &billingAddress{Country: a.Country, Zip: a.PostalCode}
	}
	return document[request]{object[request]{
		Type: checkouts, Attributes: r, Relationships: map[string]link{"store": to("stores", c.store.ID), "variant": to("variants", c.store.Variant)},
	}}
}

// Charge implements gateway.Provider. It creates the checkout, and the customer pays it on Lemon Squeezy's page. If the
// checkout has another currency than the charge, Charge refuses it and does not return its link.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := c.unfit(ch); err != nil {
		return gateway.Outcome{}, fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, err)
	}
	var made document[checkout]
	refused, err := c.api.Post(ctx, "/checkouts", nil, ch.Permit, c.requestOf(ch), &made)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused != nil:
		return rejected(refused.code()), nil
	}
	o, err := outcomeOf(made.Data)
	if shown := made.Data.Attributes.currency(); err == nil && shown != "" && shown != string(c.store.Currency) {
		return rejected("store_currency"), nil
	}
	return o, err
}

func rejected(code string) gateway.Outcome {
	return gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", code)}
}

var (
	errStored   = errors.New("Lemon Squeezy charges no stored method, and holds nothing") //nolint:staticcheck // a name
	errCurrency = errors.New("not the store's currency, or one without cents")
)

// unfit returns the reason why a charge is never sent. Prices are in cents. Lemon Squeezy does not document the unit for
// a currency without cents, so such a currency is not charged.
func (c *Client) unfit(ch gateway.Charge) error {
	amount, err := kit.Decimal(ch.Money)
	_, cents, _ := strings.Cut(amount, ".")
	switch {
	case ch.Stored || ch.Token != page || ch.Capture == payment.CaptureManual:
		return errStored
	case err != nil:
		return err
	case ch.Money.Currency != c.store.Currency || len(cents) != len("00"):
		return errCurrency
	}
	return nil
}

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n kit.Needs
	n.Data(ch.Details)
	n.If(ch.Token != page, "payment_method.token", "must be redirect")
	n.If(ch.Capture == payment.CaptureManual, "capture", "must be automatic: Lemon Squeezy holds nothing")
	n.If(ch.Save, "save_payment_method", "is not passed on to Lemon Squeezy, which keeps no method for the shop")
	return n.Err()
}

// TokenKind implements gateway.Provider. Any other token may belong to a stored method.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if token == page {
		return gateway.TokenSingleUse
	}
	return gateway.TokenStored
}

// Unseen implements gateway.Provider. Only the answer contains the address of the page.
func (c *Client) Unseen(d gateway.Details) (payable time.Duration, ends bool) {
	return 0, d.Token == page
}

// CheckOwner implements gateway.Provider. The adapter charges no stored payment methods.
func (c *Client) CheckOwner(context.Context, string, string) error { return gateway.ErrUnsupported }

// Capture implements gateway.Provider.
func (c *Client) Capture(context.Context, gateway.Capture) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}
