package razorpay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

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
	Customer       *customer         `json:"customer,omitempty"`
	CallbackURL    string            `json:"callback_url,omitempty"`
	CallbackMethod string            `json:"callback_method,omitempty"`
	Options        *options          `json:"options,omitempty"`
}

// customer prefills the page. Razorpay sends no message to the customer, see Notify.
type customer struct {
	Name    string `json:"name,omitempty"`
	Email   string `json:"email,omitempty"`
	Contact string `json:"contact,omitempty"`
}

// customerOf returns nil for a customer without a name, an e-mail address and a telephone number.
func customerOf(c gateway.Customer) *customer {
	if c.Name == "" && c.Email == "" && c.Phone == "" {
		return nil
	}
	return &customer{Name: c.Name, Email: c.Email, Contact: c.Phone}
}

type options struct {
	Checkout struct {
		Method map[string]bool `json:"method"`
	} `json:"checkout"`
}

// methods returns the methods that a link can be limited to
// (https://razorpay.com/docs/api/payments/payment-links/customise-payment-methods/).
func methods() map[string]bool {
	return map[string]bool{"card": false, "netbanking": false, "upi": false, "wallet": false}
}

// Charge implements gateway.Provider. The token selects the method. "redirect" offers all methods on the link's page.
// "card", "netbanking", "upi" or "wallet" limits the page to this method. "checkout" creates an order for Razorpay's
// script on the shop's page. "upi_intent" creates an order and a link to a UPI app. A charge with another token or with
// manual capture is not sent.
//
// If a link with the same reference exists, Charge returns that link and creates no other.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return gateway.Outcome{}, err
	}
	if ch.Token == checkout || ch.Token == intent {
		return c.order(ctx, ch)
	}
	request, err := requestOf(ch)
	if err != nil {
		return gateway.Outcome{}, err
	}
	var made link
	refused, err := c.api.Post(ctx, "/payment_links/", nil, ch.Permit, request, &made)
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
	return gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", refused.code())}, nil
}

// page and checkout are the tokens of a link's page and of Razorpay's script. intent is the token of a UPI app.
const page, checkout, intent = "redirect", "checkout", "upi_intent"

var errToken = errors.New("the token must be redirect, checkout, card, netbanking, upi, upi_intent or wallet")

// atOnce returns the amount of an automatic capture. It returns an error for a manual capture.
func atOnce(ch gateway.Charge) (int64, error) {
	if ch.Capture == payment.CaptureManual {
		return 0, fmt.Errorf("%w: %w: a payment is captured at once", gateway.ErrUnsupportedRequest, gateway.ErrUnsupported)
	}
	return amount(ch.Money)
}

// notesOf returns the notes that the webhook reader uses.
func notesOf(ch gateway.Charge) map[string]string {
	notes := map[string]string{"payment_attempt_id": ch.Attempt.String(), "order_id": string(ch.Order)}
	if ch.Token == intent {
		notes[flowNote] = intent
	}
	return notes
}

// description returns the text that the customer reads about the payment.
func description(ch gateway.Charge) string {
	var text string
	if json.Unmarshal(ch.ProviderData["description"], &text) == nil && text != "" {
		return text
	}
	return string(ch.Order)
}

func requestOf(ch gateway.Charge) (linkRequest, error) {
	units, err := atOnce(ch)
	if err != nil {
		return linkRequest{}, err
	}
	r := linkRequest{
		Amount: units, Currency: string(ch.Money.Currency), ReferenceID: ch.Attempt.String(), Description: description(ch),
		Notify: map[string]bool{"sms": false, "email": false}, Notes: notesOf(ch), Customer: customerOf(ch.Customer),
	}
	if ch.ReturnURL != "" {
		r.CallbackURL, r.CallbackMethod = ch.ReturnURL, "get"
	}
	if ch.Token == page {
		return r, nil
	}
	limit := methods()
	if _, known := limit[ch.Token]; !known {
		return linkRequest{}, fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, errToken)
	}
	limit[ch.Token] = true
	r.Options = &options{}
	r.Options.Checkout.Method = limit
	return r, nil
}
