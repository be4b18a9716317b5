package paypal

import (
	"regexp"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

var softDescriptor = regexp.MustCompile(`^[a-zA-Z0-9 .*-]*$`)

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n kit.Needs
	n.Data(ch.Details, providerData()...)
	_, err := amountOf(ch.Money)
	n.If(err != nil, "amount", "has more decimals than PayPal accepts in this currency")
	kind, id, err := readToken(ch.Token)
	n.If(err != nil, "payment_method.token", "must be paypal, card, apple_pay, google_pay, paypal:ID or card:ID for this account")
	acceptsVerification(&n, ch.Details, id == "" && (kind == "card" || kind == "google_pay"))
	n.If(ch.Save && (id != "" || kind != "paypal" || err != nil), "save_payment_method", "is only for the wallet (the token `paypal`): a method with an id is already stored")
	n.If(ch.Save && !customerID.MatchString(ch.Customer.Reference), "customer.reference",
		"must have up to 64 letters, digits and - _ . ^ * $ @ # for a method that PayPal stores")
	n.If(!softDescriptor.MatchString(ch.StatementDescriptor), "statement_descriptor", "may have only letters, digits, blanks and . * - at PayPal")
	for _, name := range []string{"brand_name", "landing_page", "payment_method_preference", "shipping_preference"} {
		n.If((kind != "paypal" || ch.ReturnURL == "") && ch.ProviderData[name] != nil, "provider_data."+name, "is only for PayPal's page: send a return_url, and a wallet")
	}
	return n.Err()
}
