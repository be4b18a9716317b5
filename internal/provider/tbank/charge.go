package tbank

import (
	"context"
	"errors"
	"fmt"
	"github.com/paylatch/paylatch/internal/provider/call"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// page is the token of a payment on the bank's page, by any method. Any other token is
// the RebillId of a saved card.
const page = "redirect"

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n call.Needs
	n.Data(ch.Details)
	return n.Err()
}

// Charge implements gateway.Provider. It begins the payment and then charges the saved
// card, if there is one
// (https://www.tbank.ru/kassa/dev/payments/#tag/Rekurrentnyj-platezh).
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return gateway.Outcome{}, err
	}
	if err := c.sells(ch.Money); err != nil {
		return gateway.Outcome{}, err
	}
	begun, err := c.command(ctx, "Init", beginning(ch), ch.Permit)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case !begun.Success:
		// A payment that was not begun can't be paid: any error is final.
		return refused("", begun), nil
	case ch.Token == page && begun.PaymentURL == "":
		return gateway.Outcome{}, errNameless
	case ch.Token == page:
		return c.waits(begun)
	}
	return c.rebill(ctx, string(begun.PaymentID), ch)
}

func beginning(ch gateway.Charge) request {
	r := request{OrderID: ch.Attempt.String(), Amount: ch.Money.Minor, PayType: "O", SuccessURL: ch.ReturnURL, FailURL: ch.ReturnURL}
	if ch.Capture == payment.CaptureManual {
		r.PayType = "T"
	}
	return r
}

// waits returns the outcome of a payment on the bank's page.
func (c *Client) waits(begun answer) (gateway.Outcome, error) {
	o, err := c.outcome(begun)
	if o.News == fsm.NewsActionRequired || o.News == fsm.NewsProcessing {
		o.News, o.NextAction = fsm.NewsActionRequired, payment.Redirect(begun.PaymentURL)
	}
	return o, err
}

// rebill charges a saved card. A refused or declined payment was begun all the same,
// but could be retried only on its page, the address of which is not published.
func (c *Client) rebill(ctx context.Context, id string, ch gateway.Charge) (gateway.Outcome, error) {
	if id == "" {
		return gateway.Outcome{}, errNameless
	}
	a, err := c.command(ctx, "Charge", request{PaymentID: id, RebillID: ch.Token}, ch.Permit)
	switch {
	case errors.Is(err, gateway.ErrNotSent):
		// Begun, and not charged: it is to be cancelled.
		return gateway.Outcome{News: fsm.NewsSoftFailed, ProviderPaymentID: id, Failure: payment.NewFailure("not_started", "")}, nil
	case err != nil:
		return gateway.Outcome{}, err
	case a.Success, standing(a.Status) == fsm.NewsFailed, standing(a.Status) == fsm.NewsSoftFailed:
		o, err := c.outcome(a)
		if o.News == fsm.NewsSoftFailed {
			o.News, o.PageOpen = fsm.NewsFailed, false
		}
		return o, err
	case a.definitive():
		return refused(id, a), nil
	}
	return gateway.Outcome{}, a.said()
}

func refused(id string, a answer) gateway.Outcome {
	return gateway.Outcome{
		News: fsm.NewsFailed, Refused: true, ProviderPaymentID: id, Failure: payment.NewFailure("provider_rejected", string(a.ErrorCode)),
	}
}

var errCurrency = errors.New("not the terminal's currency")

// sells returns an error unless the money has the terminal's currency: a request names
// none.
func (c *Client) sells(m payment.Money) error {
	if m.Currency != c.currency {
		return fmt.Errorf("%w: %s: %w", gateway.ErrUnfit, m.Currency, errCurrency)
	}
	return nil
}
