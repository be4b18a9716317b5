package square

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	hooks "github.com/paylatch/paylatch/webhooks/square"
)

// paymentRequest is the part of CreatePayment that a charge needs
// (https://developer.squareup.com/reference/square/payments-api/create-payment).
type paymentRequest struct {
	SourceID       string `json:"source_id"`
	LocationID     string `json:"location_id,omitempty"`
	CustomerID     string `json:"customer_id,omitempty"`
	IdempotencyKey string `json:"idempotency_key"`
	Amount         money  `json:"amount_money"`
	Autocomplete   bool   `json:"autocomplete"`
	ReferenceID    string `json:"reference_id"`
	Note           string `json:"note,omitempty"`

	Email      string           `json:"buyer_email_address,omitempty"`
	Phone      string           `json:"buyer_phone_number,omitempty"`
	Billing    *address         `json:"billing_address,omitempty"`
	Shipping   *address         `json:"shipping_address,omitempty"`
	Descriptor string           `json:"statement_description_identifier,omitempty"`
	Customer   *customerDetails `json:"customer_details,omitempty"`
	// Verification shows Square that the buyer was verified. Verification and Member are Square's own members
	// (provider_data).
	Verification json.RawMessage `json:"verification_token,omitempty"`
	Member       json.RawMessage `json:"team_member_id,omitempty"`
}

// address is Square's form of an address
// (https://developer.squareup.com/docs/build-basics/common-data-types/working-with-addresses).
type address struct {
	Line1      string `json:"address_line_1,omitempty"`
	Line2      string `json:"address_line_2,omitempty"`
	City       string `json:"locality,omitempty"`
	State      string `json:"administrative_district_level_1,omitempty"`
	PostalCode string `json:"postal_code,omitempty"`
	Country    string `json:"country,omitempty"`
}

func addressOf(a *gateway.Address) *address {
	if a == nil {
		return nil
	}
	return &address{Line1: a.Line1, Line2: a.Line2, City: a.City, State: a.State, PostalCode: a.PostalCode, Country: a.Country}
}

// customerDetails state whether the customer or the seller charges a card on file. The seller never keys in a card here.
type customerDetails struct {
	Initiated bool `json:"customer_initiated"`
	KeyedIn   bool `json:"seller_keyed_in"`
}

var errNoMoney = errors.New("a source that only records money which somebody else took")

// Charge implements gateway.Provider. A token comes from Square's own libraries (cnon:…), and the customer has already
// confirmed the payment. Or it is a card on file (ccof:…), which Square accepts only together with its customer. No
// payment redirects. A decline is final.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return gateway.Outcome{}, err
	}
	if ch.Token == "CASH" || ch.Token == "EXTERNAL" {
		return gateway.Outcome{}, fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, errNoMoney)
	}
	got, refused, err := c.command(ctx, http.MethodPost, "/v2/payments", ch.Permit, c.requestOf(ch))
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused != nil:
		return refused.outcome(), nil
	}
	return c.outcome(got.Payment)
}

func (c *Client) requestOf(ch gateway.Charge) paymentRequest {
	r := paymentRequest{
		SourceID: ch.Token, LocationID: c.Location, IdempotencyKey: ch.IdempotencyKey, Amount: moneyOf(ch.Money),
		Autocomplete: ch.Capture != payment.CaptureManual, ReferenceID: ch.Attempt.String(), Note: "Order " + string(ch.Order),
		Email: ch.Customer.Email, Phone: ch.Customer.Phone, Billing: addressOf(ch.Customer.Billing), Shipping: addressOf(ch.Customer.Shipping),
		Descriptor: ch.StatementDescriptor, Verification: ch.ProviderData["verification_token"], Member: ch.ProviderData["team_member_id"],
	}
	if ch.Stored {
		r.CustomerID, r.Customer = ch.Customer.Reference, &customerDetails{Initiated: !ch.Unattended}
	}
	return r
}

// spent are the codes for a token that can't be used any more, possibly because an earlier call used it. They are not
// card declines.
var spent = map[string]bool{ //nolint:gochecknoglobals // a table
	"CARD_TOKEN_USED": true, "CARD_TOKEN_EXPIRED": true, "SOURCE_USED": true, "SOURCE_EXPIRED": true,
}

// outcome returns the outcome of a refused charge: the card was declined, or the request was refused. A failed payment
// has an id.
func (r *refusal) outcome() gateway.Outcome {
	o := gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", r.Code)}
	if r.Category == "PAYMENT_METHOD_ERROR" && !spent[r.Code] {
		o.Refused, o.Failure = false, payment.NewFailure(hooks.FailureCode(r.Code))
	}
	if r.payment != nil {
		o.ProviderPaymentID, o.Container, o.References = r.payment.ID, r.payment.OrderID, r.payment.references()
	}
	return o
}
