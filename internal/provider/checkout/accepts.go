package checkout

import (
	"encoding/json"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n kit.Needs
	n.Data(ch.Details, providerData()...)
	for _, name := range []string{"3ds", "billing_descriptor"} {
		var object map[string]any
		raw, ok := ch.ProviderData[name]
		n.If(ok && (json.Unmarshal(raw, &object) != nil || object == nil), "provider_data."+name, "must be an object")
	}
	_, err := units(ch.Money)
	n.If(err != nil, "amount", "is not possible at Checkout.com: in this currency the last of the three decimals must be 0")
	n.If(ch.Save && ch.Stored, "save_payment_method", "is only for a token (tok_…): an instrument is already stored")
	n.If(ch.Save && !strings.HasPrefix(ch.Customer.Reference, customerPrefix), "customer.reference",
		"must be a Checkout.com customer id (cus_…) with save_payment_method")
	return n.Err()
}
