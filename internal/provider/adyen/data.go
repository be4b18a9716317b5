package adyen

import (
	"encoding/json"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// providerData returns the members of POST /payments that provider_data may contain.
func providerData() []string {
	return []string{
		"accountInfo", "authenticationData", "channel", "checkoutAttemptId", "company", "dateOfBirth", "deliverAt", "deviceFingerprint", "installments",
		"merchantRiskIndicator", "origin", "platformChargebackLogic", "recurringProcessingModel", "redirectFromIssuerMethod",
		"redirectToIssuerMethod", "riskData", "sessionValidity", "socialSecurityNumber", "splits", "store",
	}
}

// further describes the members of POST /payments/{id}/captures and …/refunds that provider_data may contain. Without
// splits Adyen deducts a total refund by the ratio of the payment's split. It does not document the accounts of a partial
// refund, and it recommends splits in every refund (https://docs.adyen.com/platforms/online-payments/split-transactions/split-refunds).
func further() gateway.Further {
	return gateway.Further{
		Capture: gateway.Members{
			"enhancedSchemeData": kit.AnyObject, "lineItems": kit.AnyList, "platformChargebackLogic": kit.AnyObject, "splits": kit.AnyList,
			"subMerchants": kit.AnyList,
		},
		Refund: gateway.Members{"enhancedSchemeData": kit.AnyObject, "lineItems": kit.AnyList, "splits": kit.AnyList, "store": kit.TextTo(255)},
		Split: gateway.Split{
			Pay: []string{"splits"}, Refund: []string{"splits"},
			Advice: "send `splits` with the balance accounts of the payment that give their parts back; the part on your liable account is the platform's",
		},
	}
}

// acceptsData checks provider_data. It refuses an authentication without a payment, which would take no money and leave
// a payment that never ends.
func acceptsData(n *kit.Needs, d gateway.Details) {
	n.Data(d, providerData()...)
	var authentication struct {
		Only bool `json:"authenticationOnly"`
	}
	raw, ok := d.ProviderData["authenticationData"]
	n.If(ok && (json.Unmarshal(raw, &authentication) != nil || authentication.Only),
		"provider_data.authenticationData", "must be an object without authenticationOnly: a payment is to be made")
}
