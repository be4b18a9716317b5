package razorpay

import (
	"context"
	"errors"
	"fmt"
	"github.com/paylatch/paylatch/internal/provider/call"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// linkRequest creates a payment link
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

// methods returns those that a link can be limited to
// (https://razorpay.com/docs/api/payments/payment-links/customise-payment-methods/).
func methods() map[string]bool {
	return map[string]bool{"card": false, "netbanking": false, "upi": false, "wallet": false}
}

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n call.Needs
	n.Data(ch.Details)
	return n.Err()
}

// Charge implements gateway.Provider. The token selects the method: "redirect" for a
// choice on the link's page, or one of card, netbanking, upi and wallet, to which the
// page is limited. Any other token, and a charge with manual capture, is not sent.
//
// An earlier link with the same reference counts instead of a new one.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return gateway.Outcome{}, err
	}
	request, err := requestOf(ch)
	if err != nil {
		return gateway.Outcome{}, err
	}
	var made link
	refused, err := c.post(ctx, "/payment_links/", nil, ch.Permit, request, &made)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused == nil:
		return made.outcome()
	}
	if !refused.turnedAway() {
		before, err := c.Find(ctx, ch.Attempt)
		if !errors.Is(err, gateway.ErrNoSuchPayment) {
			return before, err
		}
	}
	return gateway.Outcome{News: fsm.NewsFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", refused.code())}, nil
}

var errToken = errors.New("the token is none of redirect, card, netbanking, upi and wallet")

func requestOf(ch gateway.Charge) (linkRequest, error) {
	units, err := amount(ch.Money)
	if err != nil {
		return linkRequest{}, err
	}
	if ch.Capture == payment.CaptureManual {
		return linkRequest{}, fmt.Errorf("%w: %w: a payment link is captured at once", gateway.ErrUnfit, gateway.ErrUnsupported)
	}
	r := linkRequest{
		Amount: units, Currency: string(ch.Money.Currency), ReferenceID: ch.Attempt.String(), Description: string(ch.Order),
		Notify: map[string]bool{"sms": false, "email": false},
		// Read by the webhooks' adapter.
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
		return linkRequest{}, fmt.Errorf("%w: %w", gateway.ErrUnfit, errToken)
	}
	limit[ch.Token] = true
	r.Options = &options{}
	r.Options.Checkout.Method = limit
	return r, nil
}

// Capture implements gateway.Provider: Razorpay captures a link's payment itself.
func (c *Client) Capture(context.Context, gateway.Capture) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}

// Cancel implements gateway.Provider
// (https://razorpay.com/docs/api/payments/payment-links/cancel-standard/): an unpaid
// link can no longer be paid.
func (c *Client) Cancel(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	id := cl.ProviderPaymentID
	if isPayment(id) {
		// An early webhook named the payment and not its link.
		found, err := c.find(ctx, cl.Attempt, &cl.Permit)
		if err != nil {
			return gateway.Outcome{}, err
		}
		id = found.ID
	}
	var over link
	refused, err := c.post(ctx, linkPath(id)+"/cancel", nil, cl.Permit, struct{}{}, &over)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused == nil:
		return over.outcome()
	case refused.missing():
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	}
	now, err := c.Lookup(ctx, id)
	now.Refused = now.News != fsm.NewsFailed
	return now, err
}
