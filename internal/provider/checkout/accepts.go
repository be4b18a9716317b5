package checkout

import (
	"encoding/json"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
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
	for _, name := range onlyOf(ch.Token != flow) {
		_, ok := ch.ProviderData[name]
		n.If(ok, "provider_data."+name, "is not a member of the request that this token needs")
	}
	acceptsPage(&n, ch)
	n.If(ch.Save && ch.Stored, "save_payment_method", "is only for a token (tok_…): an instrument is already stored")
	n.If(ch.Save && !ch.Stored && (ch.Token == flow || isLocal(ch.Token)), "save_payment_method", "is only for a token (tok_…)")
	n.If(ch.Save && !strings.HasPrefix(ch.Customer.Reference, customerPrefix), "customer.reference",
		"must be a Checkout.com customer id (cus_…) with save_payment_method")
	return n.Err()
}

// acceptsPage adds the needs of a payment whose customer pays in a payment session or on a local method's page.
func acceptsPage(n *kit.Needs, ch gateway.Charge) {
	local, country := isLocal(ch.Token), ch.Customer.Billing != nil && ch.Customer.Billing.Country != ""
	n.If((local || ch.Token == flow) && ch.ReturnURL == "", "return_url", "is required by Checkout.com with "+ch.Token)
	n.If(ch.Token == flow && !country, "customer.billing_address.country", "is required by Checkout.com with flow")
	n.If(local && ch.Capture == payment.CaptureManual, "capture", "must be automatic with "+ch.Token)
	n.If(ch.Token == bancontact && len([]rune(ch.Customer.Name)) < 3, "customer.name", "is required by Checkout.com with bancontact: at least three characters")
	n.If(ch.Token == paypal && len(itemsOf(ch)) == 0, "lines", "are required by Checkout.com with paypal, without discounts")
}
