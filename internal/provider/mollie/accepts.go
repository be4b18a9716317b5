package mollie

import (
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// customerPrefix is the prefix of the ids of Mollie's customers.
const customerPrefix = "cst_"

// providerData returns the members of POST /v2/payments that provider_data may contain. metadata is not allowed, because
// its marks identify the payment. captureDelay is not allowed, because it would change when the money is taken.
func providerData() []string {
	return []string{
		"applePayPaymentToken", "applicationFee", "cancelUrl", "company", "consumerDateOfBirth", "digitalGoods", "dueDate", "extraMerchantData",
		"googlePayPaymentToken", "issuer", "restrictPaymentMethodsToCountry", "routing", "sessionId",
	}
}

// further describes the members of Mollie's request for a refund that provider_data may contain. Of a routed payment "by
// default the full amount is deducted from your balance" (https://docs.mollie.com/reference/create-refund).
func further() gateway.Further {
	return gateway.Further{
		Refund: gateway.Members{"reverseRouting": kit.AnyBool, "routingReversals": kit.AnyList},
		Split: gateway.Split{
			Pay: []string{"routing"}, Refund: []string{"reverseRouting", "routingReversals"},
			Advice: "send `reverseRouting` as true or `routingReversals`, and the connected organizations give their parts back, or `reverseRouting` as false, and the platform pays for them",
		},
	}
}

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n kit.Needs
	n.Data(ch.Details, providerData()...)
	_, err := kit.Decimal(ch.Money)
	n.If(err != nil, "amount", "has a currency without documented decimals at Mollie")
	n.If(!ch.Stored && ch.ReturnURL == "", "return_url", "is required by Mollie, except for a stored payment method")
	n.If(ch.Save && ch.Stored, "save_payment_method", "is only for a new payment method: a mandate is already stored")
	n.If(ch.Save && !strings.HasPrefix(ch.Customer.Reference, customerPrefix), "customer.reference",
		"must be a Mollie customer id (cst_…) with save_payment_method")
	needsLines(&n, ch)
	return n.Err()
}
