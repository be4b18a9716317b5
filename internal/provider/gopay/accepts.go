package gopay

import (
	"regexp"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// code is the form of an instrument's code.
var code = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// providerData returns the members of a payment that provider_data may contain.
func providerData() []string { return []string{"order_description"} }

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n kit.Needs
	n.Data(ch.Details, providerData()...)
	n.If(!ch.Stored && ch.Token != page && !code.MatchString(ch.Token), "payment_method.token",
		"must be redirect, the code of an instrument such as PAYMENT_CARD, or a card saved at GoPay")
	n.If(!ch.Stored && ch.ReturnURL == "", "return_url", "is required by GoPay, except for a saved card")
	n.If(!ch.Stored && ch.Customer.Email == "", "customer.email", "is required by GoPay, except for a saved card")
	n.If(ch.Stored && ch.Capture == payment.CaptureManual, "capture", "must be automatic with a saved card at GoPay")
	n.If(ch.Save && ch.Stored, "save_payment_method", "is only for a new payment method: this card is already saved")
	n.If(ch.Save && ch.Token != page && ch.Token != card, "save_payment_method", "is only for cards: use the token `redirect` or `PAYMENT_CARD`")
	n.If(ch.Save && ch.Customer.Reference == "", "customer.reference", "is required to save a card")
	return n.Err()
}
