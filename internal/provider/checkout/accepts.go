package checkout

import (
	"encoding/json"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n call.Needs
	n.Data(ch.Details, providerData()...)
	for _, name := range []string{"3ds", "billing_descriptor"} {
		var object map[string]any
		raw, ok := ch.ProviderData[name]
		n.If(ok && (json.Unmarshal(raw, &object) != nil || object == nil), "provider_data."+name, "must be an object")
	}
	_, err := units(ch.Money)
	n.If(err != nil, "amount", "is none of this currency's at Checkout.com: a currency with three decimals has a 0 as the last one")
	n.If(ch.Save && ch.Stored, "save_payment_method", "is for a token (tok_…): an instrument is stored")
	n.If(ch.Save && !strings.HasPrefix(ch.Customer.Reference, customerPrefix), "customer.reference",
		"must be the id of one of Checkout.com's customers (cus_…) with save_payment_method")
	return n.Err()
}
