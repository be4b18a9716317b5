package square

import (
	"context"
	"errors"
	"fmt"
	"github.com/paylatch/paylatch/internal/provider/call"
	"net/http"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	hooks "github.com/paylatch/paylatch/webhooks/square"
)

// paymentRequest is as much of CreatePayment as a charge needs
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
}

var errNoMoney = errors.New("a source that only records money which somebody else took")

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n call.Needs
	n.Data(ch.Details)
	return n.Err()
}

// Charge implements gateway.Provider. A token is one of Square's own libraries
// (cnon:…), with which the customer has confirmed the payment already, or a card on
// file (ccof:…), which Square accepts only with its customer: nothing redirects. A
// decline is final.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return gateway.Outcome{}, err
	}
	if ch.Token == "CASH" || ch.Token == "EXTERNAL" {
		return gateway.Outcome{}, fmt.Errorf("%w: %w", gateway.ErrUnfit, errNoMoney)
	}
	request := paymentRequest{
		SourceID: ch.Token, LocationID: c.Location, IdempotencyKey: ch.IdempotencyKey, Amount: moneyOf(ch.Money),
		Autocomplete: ch.Capture != payment.CaptureManual, ReferenceID: ch.Attempt.String(), Note: "Order " + string(ch.Order),
	}
	if ch.Stored {
		request.CustomerID = ch.Customer.Reference
	}
	got, refused, err := c.command(ctx, http.MethodPost, "/v2/payments", ch.Permit, request)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused != nil:
		return refused.outcome(), nil
	}
	return outcome(got.Payment)
}

// spent are codes of a token that can't be used any more, perhaps because an earlier
// call used it: they are no card decline.
var spent = map[string]bool{ //nolint:gochecknoglobals // a table
	"CARD_TOKEN_USED": true, "CARD_TOKEN_EXPIRED": true, "SOURCE_USED": true, "SOURCE_EXPIRED": true,
}

// outcome returns the outcome of a refused charge: the card was declined, or the
// request was refused as such. A failed payment has an id.
func (r refusal) outcome() gateway.Outcome {
	o := gateway.Outcome{News: fsm.NewsFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", r.Code)}
	if r.Category == "PAYMENT_METHOD_ERROR" && !spent[r.Code] {
		o.Refused, o.Failure = false, payment.NewFailure(hooks.FailureCode(r.Code))
	}
	if r.payment != nil {
		o.ProviderPaymentID, o.References = r.payment.ID, r.payment.references()
	}
	return o
}
