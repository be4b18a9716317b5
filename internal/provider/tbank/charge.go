package tbank

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// page is the token of a payment with any method on the bank's page. A token of apps is a payment in a bank's app. Any
// other token is the RebillId of a saved card.
const page = "redirect"

// Charge implements gateway.Provider. It begins the payment. It then requests the link if the token is a bank's app, or
// charges the saved card if the token is a saved card
// (https://www.tbank.ru/kassa/dev/payments/#tag/Rekurrentnyj-platezh).
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return gateway.Outcome{}, err
	}
	if err := c.sells(ch.Money); err != nil {
		return gateway.Outcome{}, err
	}
	begun, err := c.command(ctx, "Init", c.beginning(ch), ch.Permit)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case !begun.Success:
		// A payment that was not begun can't be paid, so any error is final.
		return refused("", begun), nil
	case ch.Token == page && begun.PaymentURL == "":
		return gateway.Outcome{}, errNameless
	case ch.Token == page:
		return c.waits(begun, payment.Redirect(begun.PaymentURL))
	case apps[ch.Token]:
		return c.link(ctx, begun, ch)
	}
	return c.rebill(ctx, string(begun.PaymentID), ch)
}

func (c *Client) beginning(ch gateway.Charge) request {
	r := request{
		OrderID: ch.Attempt.String(), Amount: ch.Money.Minor, PayType: "O", SuccessURL: ch.ReturnURL, FailURL: ch.ReturnURL,
		Language: language(ch.Customer.Locale), Receipt: c.receiptOf(gateway.ReceiptOf(ch.Details)),
		Description: ch.ProviderData["Description"], Descriptor: ch.ProviderData["Descriptor"],
		RedirectDueDate: ch.ProviderData[dueDate],
		Data:            &additional{Email: ch.Customer.Email, Phone: ch.Customer.Phone, Initiator: initiator(ch.Details)},
	}
	r.Data.inApp(ch.Details)
	if ch.Capture == payment.CaptureManual {
		r.PayType = "T"
	}
	if saves(ch.Details) {
		r.Recurrent, r.CustomerKey = "Y", ch.Customer.Reference
	}
	return r
}

// saves reports whether the bank must save the card for the customer's CustomerKey.
func saves(d gateway.Details) bool { return d.Save && d.Token == page }

// These are the initiators of a payment. The customer pays without saving a card, saves a card, or uses a saved card.
// The merchant uses a saved card without a schedule, or by the schedule of instalments
// (https://www.tbank.ru/kassa/dev/payments/#section/Peredacha-priznaka-iniciatora-operacii).
const (
	byCustomer, saving, byCustomerSaved = "0", "1", "2"
	byMerchant, byInstalments           = "R", "I"
)

func initiator(d gateway.Details) string {
	switch {
	case saves(d):
		return saving
	case d.Token == page, apps[d.Token]:
		return byCustomer
	case !d.Unattended:
		return byCustomerSaved
	case named(d) == byInstalments:
		return byInstalments
	}
	return byMerchant
}

// named returns the initiator in provider_data.
func named(d gateway.Details) string {
	var text string
	_ = json.Unmarshal(d.ProviderData["OperationInitiatorType"], &text) // "" if the member is missing
	return text
}

// language returns the language of the bank's page, ru or en. It is empty for any other language.
func language(tag string) string {
	first, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if first == "ru" || first == "en" {
		return first
	}
	return ""
}

// waits returns the outcome of a payment that waits for its customer.
func (c *Client) waits(begun answer, next *payment.NextAction) (gateway.Outcome, error) {
	o, err := c.outcome(begun)
	if o.Event == fsm.EventActionRequired || o.Event == fsm.EventProcessing {
		o.Event, o.NextAction = fsm.EventActionRequired, next
	}
	return o, err
}

// rebill charges a saved card. A refused or declined payment exists at the bank, but it could be retried only on its
// page, and the page's address is not published.
func (c *Client) rebill(ctx context.Context, id string, ch gateway.Charge) (gateway.Outcome, error) {
	if id == "" {
		return gateway.Outcome{}, errNameless
	}
	a, err := c.command(ctx, "Charge", request{PaymentID: id, RebillID: ch.Token, IP: ch.Customer.IP}, ch.Permit)
	switch {
	case errors.Is(err, gateway.ErrNotSent):
		// The payment was begun and not charged, so it must be cancelled.
		return gateway.Outcome{Event: fsm.EventSoftFailed, ProviderPaymentID: id, Failure: payment.NewFailure("not_started", "")}, nil
	case err != nil:
		return gateway.Outcome{}, err
	case a.Success, standing(a.Status) == fsm.EventFailed, standing(a.Status) == fsm.EventSoftFailed:
		o, err := c.outcome(a)
		if o.Event == fsm.EventSoftFailed {
			o.Event, o.PageOpen = fsm.EventFailed, false
		}
		return o, err
	case a.definitive():
		return refused(id, a), nil
	}
	return gateway.Outcome{}, a.said()
}

func refused(id string, a answer) gateway.Outcome {
	return gateway.Outcome{
		Event: fsm.EventFailed, Refused: true, ProviderPaymentID: id, Failure: payment.NewFailure("provider_rejected", string(a.ErrorCode)),
	}
}

var errCurrency = errors.New("not the terminal's currency")

// sells returns an error unless the money has the terminal's currency, because a request names no currency.
func (c *Client) sells(m payment.Money) error {
	if m.Currency != c.currency {
		return fmt.Errorf("%w: %s: %w", gateway.ErrUnsupportedRequest, m.Currency, errCurrency)
	}
	return nil
}
