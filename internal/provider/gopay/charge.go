package gopay

import (
	"context"
	"encoding/json"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// page is the token that offers all methods on GoPay's page. A token of digits is a saved card. Any other token is the
// code of an instrument, such as PAYMENT_CARD.
const page = "redirect"

const paymentsPath = "/payments/payment"

// Charge implements gateway.Provider (https://doc.gopay.com, "Payment creation" and "Recurring payments").
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return gateway.Outcome{}, err
	}
	path, request := paymentsPath, orderOf(ch)
	if ch.Stored {
		path = paymentPath(ch.Token) + "/create-recurrence"
	} else {
		c.begins(&request, ch)
	}
	body, err := kit.Extend(request, ch.ProviderData, providerData())
	if err != nil {
		return gateway.Outcome{}, err
	}
	var made object
	refused, err := c.api.Post(ctx, path, nil, ch.Permit, body, &made)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused != nil && refused.number == recurrenceFailed:
		return gateway.Outcome{Event: fsm.EventFailed, Failure: payment.NewFailure("card_declined", refused.code())}, nil
	case refused != nil:
		return gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", refused.code())}, nil
	case ch.Stored && made.ID.String() == ch.Token:
		return gateway.Outcome{}, errNameless // this is the payment that saved the card, and not a new payment
	case ch.Stored:
		made.ParentID = json.Number(ch.Token)
	}
	return c.outcome(made)
}
