package comgate

import (
	"slices"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// providerData returns the members of create and recurring that provider_data may contain. verification, preauth and
// initRecurring are not allowed, because they would change the amount taken or the method stored.
func providerData() []string {
	return []string{"account", "applePayPayload", "country", "dynamicExpiration", "expirationTime", "name"}
}

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n kit.Needs
	n.Data(ch.Details, providerData()...)
	for _, name := range providerData() {
		raw, given := ch.ProviderData[name]
		n.If(given && text(raw) == "", "provider_data."+name, "must be a text, a number, true or false")
	}
	_, err := units(ch.Money)
	n.If(err != nil || !slices.Contains(currencies, ch.Money.Currency), "amount", "must be in a currency of Comgate; an amount in forints must be a whole number")
	n.If(ch.Customer.Email == "", "customer.email", "is required by Comgate")
	stored := c.TokenKind(ch.Token) == gateway.TokenStored
	n.If(stored && ch.Capture == payment.CaptureManual, "capture", "must be automatic for a recurring payment")
	n.If(stored && ch.Save, "save_payment_method", "is only for a new payment method")
	n.If(ch.Save && ch.Customer.Reference == "", "customer.reference", "is required to store a payment method")
	return n.Err()
}
