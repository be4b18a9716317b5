package braintree

import (
	"fmt"
	"regexp"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// descriptorForm is the form in the text of error 92201: a name of 3, 7 or 12 characters, an asterisk and a product,
// together at most 22 characters (https://github.com/angelleye/paypal-woocommerce/issues/724 repeats the text).
var descriptorForm = regexp.MustCompile(`^([A-Za-z0-9. ]{3}\*[A-Za-z0-9. ]{1,18}|[A-Za-z0-9. ]{7}\*[A-Za-z0-9. ]{1,14}|[A-Za-z0-9. ]{12}\*[A-Za-z0-9. ]{1,9})$`)

// customerForm is the form of a customer's id. Its sources are error 91610 (letters, digits, - and _) and error 91612
// (at most 36 characters); both limits are quoted from memory.
var customerForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,36}$`)

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n kit.Needs
	n.Data(ch.Details, providerData()...)
	given, err := optionsOf(ch.Details)
	n.If(err != nil, "provider_data.options", "must be an object")
	if name := unknownOption(given); name != "" {
		n.If(true, "provider_data.options."+name, fmt.Sprintf("is not sent to this account's provider, which accepts only %v", optional()))
	}
	n.If(c.Currency == "", "amount", "can't be charged: the account has no currency")
	n.If(c.Currency != "" && ch.Money.Currency != c.Currency, "amount", "has another currency than the account's merchant account")
	n.If(ch.StatementDescriptor != "" && !descriptorForm.MatchString(ch.StatementDescriptor), "statement_descriptor",
		"must be a name of 3, 7 or 12 characters, * and a product, with at most 22 characters")
	n.If(ch.Save && ch.Stored, "save_payment_method", "is only for a nonce: a payment method in the vault is already stored")
	n.If(ch.Save && !customerForm.MatchString(ch.Customer.Reference), "customer.reference",
		"is required to store a payment method: at most 36 letters, digits, - and _")
	return n.Err()
}
