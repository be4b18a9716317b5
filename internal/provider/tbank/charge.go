package tbank

import (
	"context"
	"errors"
	"fmt"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// page is the token of a payment that the customer makes on the bank's page, by
// whatever method. Any other token is the RebillId of a saved card.
const page = "redirect"

// Charge implements payment.Provider. It begins the payment and then, where there
// is a saved card, charges that
// (https://www.tbank.ru/kassa/dev/payments/#tag/Rekurrentnyj-platezh).
func (c *Client) Charge(ctx context.Context, ch payment.Charge) (payment.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return payment.Outcome{}, err
	}
	if err := c.sells(ch.Money); err != nil {
		return payment.Outcome{}, err
	}
	begun, err := c.command(ctx, "Init", beginning(ch), ch.Licence)
	switch {
	case err != nil:
		return payment.Outcome{}, err
	case !begun.Success:
		// What the bank did not begin nobody can pay: any error is final.
		return refused("", begun), nil
	case ch.Token == page && begun.PaymentURL == "":
		return payment.Outcome{}, errNameless
	case ch.Token == page:
		return c.waits(begun)
	}
	return c.rebill(ctx, string(begun.PaymentID), ch)
}

func beginning(ch payment.Charge) request {
	r := request{OrderID: ch.Attempt.String(), Amount: ch.Money.Minor, PayType: "O", SuccessURL: ch.ReturnURL, FailURL: ch.ReturnURL}
	if ch.Capture == payment.CaptureManual {
		r.PayType = "T"
	}
	return r
}

// waits is a payment whose customer must go to the bank's page.
func (c *Client) waits(begun answer) (payment.Outcome, error) {
	o, err := c.outcome(begun)
	if o.News == fsm.NewsActionRequired || o.News == fsm.NewsProcessing {
		o.News, o.NextActionURL = fsm.NewsActionRequired, begun.PaymentURL
	}
	return o, err
}

// rebill charges a saved card. What is refused or declined here was begun all the
// same, but nobody has the address of its page: only there it could be tried again.
func (c *Client) rebill(ctx context.Context, id string, ch payment.Charge) (payment.Outcome, error) {
	if id == "" {
		return payment.Outcome{}, errNameless
	}
	a, err := c.command(ctx, "Charge", request{PaymentID: id, RebillID: ch.Token}, ch.Licence)
	switch {
	case errors.Is(err, payment.ErrNotSent):
		// Begun, and not charged: it is to be cancelled.
		return payment.Outcome{News: fsm.NewsSoftFailed, ProviderPaymentID: id, Failure: payment.NewFailure("not_started", "")}, nil
	case err != nil:
		return payment.Outcome{}, err
	case a.Success, news(a.Status) == fsm.NewsFailed, news(a.Status) == fsm.NewsSoftFailed:
		o, err := c.outcome(a)
		if o.News == fsm.NewsSoftFailed {
			o.News = fsm.NewsFailed
		}
		return o, err
	case a.definitive():
		return refused(id, a), nil
	}
	return payment.Outcome{}, a.said()
}

func refused(id string, a answer) payment.Outcome {
	return payment.Outcome{
		News: fsm.NewsFailed, Refused: true, ProviderPaymentID: id, Failure: payment.NewFailure("provider_rejected", string(a.ErrorCode)),
	}
}

var errCurrency = errors.New("not the terminal's currency")

// sells returns an error for money that a request, which names no currency, would
// turn into other money.
func (c *Client) sells(m payment.Money) error {
	if m.Currency != c.currency {
		return fmt.Errorf("%w: %s: %w", payment.ErrUnfit, m.Currency, errCurrency)
	}
	return nil
}
