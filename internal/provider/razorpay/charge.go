package razorpay

import (
	"context"
	"errors"
	"fmt"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// linkRequest makes a payment link
// (https://razorpay.com/docs/api/payments/payment-links/create-standard/).
type linkRequest struct {
	Amount         int64             `json:"amount"`
	Currency       string            `json:"currency"`
	ReferenceID    string            `json:"reference_id"`
	Description    string            `json:"description"`
	AcceptPartial  bool              `json:"accept_partial"`
	ReminderEnable bool              `json:"reminder_enable"`
	Notify         map[string]bool   `json:"notify"`
	Notes          map[string]string `json:"notes"`
	CallbackURL    string            `json:"callback_url,omitempty"`
	CallbackMethod string            `json:"callback_method,omitempty"`
	Options        *options          `json:"options,omitempty"`
}

type options struct {
	Checkout struct {
		Method map[string]bool `json:"method"`
	} `json:"checkout"`
}

// methods are those that a link can be limited to
// (https://razorpay.com/docs/api/payments/payment-links/customise-payment-methods/).
func methods() map[string]bool {
	return map[string]bool{"card": false, "netbanking": false, "upi": false, "wallet": false}
}

// Charge implements payment.Provider. The token says with what: "redirect", so
// that the customer chooses on the link's page, or one of card, netbanking, upi
// and wallet, to which the page is limited. Anything else is not sent, nor what
// is to be captured later.
//
// A link that was made before with the same reference is the one that counts.
func (c *Client) Charge(ctx context.Context, ch payment.Charge) (payment.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return payment.Outcome{}, err
	}
	request, err := requestOf(ch)
	if err != nil {
		return payment.Outcome{}, err
	}
	var made link
	refused, err := c.post(ctx, "/payment_links/", nil, ch.Licence, request, &made)
	switch {
	case err != nil:
		return payment.Outcome{}, err
	case refused == nil:
		return made.outcome()
	}
	if !refused.turnedAway() {
		before, err := c.Find(ctx, ch.Attempt)
		if !errors.Is(err, payment.ErrNoSuchPayment) {
			return before, err
		}
	}
	return payment.Outcome{News: fsm.NewsFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", refused.code())}, nil
}

var errToken = errors.New("the token is none of redirect, card, netbanking, upi and wallet")

func requestOf(ch payment.Charge) (linkRequest, error) {
	units, err := amount(ch.Money)
	if err != nil {
		return linkRequest{}, err
	}
	if ch.Capture == payment.CaptureManual {
		return linkRequest{}, fmt.Errorf("%w: %w: a payment link is captured at once", payment.ErrUnfit, payment.ErrUnsupported)
	}
	r := linkRequest{
		Amount: units, Currency: string(ch.Money.Currency), ReferenceID: ch.Attempt.String(), Description: string(ch.Order),
		Notify: map[string]bool{"sms": false, "email": false},
		// Where the webhooks' adapter looks for them.
		Notes: map[string]string{"payment_attempt_id": ch.Attempt.String(), "order_id": string(ch.Order)},
	}
	if ch.ReturnURL != "" {
		r.CallbackURL, r.CallbackMethod = ch.ReturnURL, "get"
	}
	if ch.Token == "redirect" {
		return r, nil
	}
	limit := methods()
	if _, known := limit[ch.Token]; !known {
		return linkRequest{}, fmt.Errorf("%w: %w", payment.ErrUnfit, errToken)
	}
	limit[ch.Token] = true
	r.Options = &options{}
	r.Options.Checkout.Method = limit
	return r, nil
}

// Capture implements payment.Provider: Razorpay captures a link's payment itself.
func (c *Client) Capture(context.Context, payment.Capture) (payment.Outcome, error) {
	return payment.Outcome{}, payment.ErrUnsupported
}

// Cancel implements payment.Provider
// (https://razorpay.com/docs/api/payments/payment-links/cancel-standard/): a link
// that is not paid can no longer be.
func (c *Client) Cancel(ctx context.Context, cl payment.Cancel) (payment.Outcome, error) {
	id := cl.ProviderPaymentID
	if isPayment(id) {
		// A webhook that was first named the payment, and not the link that it is of.
		found, err := c.find(ctx, cl.Attempt, &cl.Licence)
		if err != nil {
			return payment.Outcome{}, err
		}
		id = found.ID
	}
	var over link
	refused, err := c.post(ctx, linkPath(id)+"/cancel", nil, cl.Licence, struct{}{}, &over)
	switch {
	case err != nil:
		return payment.Outcome{}, err
	case refused == nil:
		return over.outcome()
	case refused.missing():
		return payment.Outcome{}, payment.ErrNoSuchPayment
	}
	now, err := c.Lookup(ctx, id)
	now.Refused = now.News != fsm.NewsFailed
	return now, err
}
