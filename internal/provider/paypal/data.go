package paypal

import (
	"encoding/json"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// unitData is the members of a purchase unit that provider_data may contain. payee is not allowed, because another payee
// would get the money.
type unitData struct {
	Description  json.RawMessage `json:"description,omitempty"`
	Instruction  json.RawMessage `json:"payment_instruction,omitempty"`
	Supplemented json.RawMessage `json:"supplementary_data,omitempty"`
}

// pageData is the allowed members of an experience_context.
type pageData struct {
	Brand      json.RawMessage `json:"brand_name,omitempty"`
	Landing    json.RawMessage `json:"landing_page,omitempty"`
	Preference json.RawMessage `json:"payment_method_preference,omitempty"`
	Shipping   json.RawMessage `json:"shipping_preference,omitempty"`
}

func providerData() []string {
	return []string{
		"brand_name", "description", "landing_page", "payment_instruction", "payment_method_preference", "shipping_preference", "supplementary_data",
		"verification",
	}
}

// verificationOf returns when a card needs 3-D Secure: by default when a mandate of its region requires it.
func verificationOf(d gateway.Details) json.RawMessage {
	if own := d.ProviderData["verification"]; own != nil {
		return own
	}
	return json.RawMessage(`{"method":"SCA_WHEN_REQUIRED"}`)
}

// acceptsVerification checks when a card needs 3-D Secure.
func acceptsVerification(n *kit.Needs, d gateway.Details, asks bool) {
	raw, given := d.ProviderData["verification"]
	if !given {
		return
	}
	n.If(!asks, "provider_data.verification", "is only for the tokens card and google_pay")
	message := kit.ObjectOf(gateway.Members{"method": kit.TextOf("SCA_WHEN_REQUIRED", "SCA_ALWAYS")})(raw)
	n.If(message != "", "provider_data.verification", message)
}

// further describes the members of PayPal's requests for a capture of an authorization and for a refund that
// provider_data may contain (https://developer.paypal.com/docs/api/payments/v2/). Without platform_fees the platform
// contributes nothing to a refund.
func further() gateway.Further {
	return gateway.Further{
		Capture: gateway.Members{"note_to_payer": kit.TextTo(255), "payment_instruction": kit.AnyObject, "soft_descriptor": kit.TextTo(22)},
		Refund: gateway.Members{
			"note_to_payer": kit.TextTo(255), "payment_instruction": kit.ObjectOf(gateway.Members{"platform_fees": kit.AnyList}),
		},
	}
}

func unitDataOf(d gateway.Details) unitData {
	p := d.ProviderData
	return unitData{Description: p["description"], Instruction: p["payment_instruction"], Supplemented: p["supplementary_data"]}
}

func pageDataOf(d gateway.Details) pageData {
	p := d.ProviderData
	page := pageData{Brand: p["brand_name"], Landing: p["landing_page"], Preference: p["payment_method_preference"], Shipping: p["shipping_preference"]}
	if page.Shipping == nil && addressOf(d.Customer.Shipping) != nil {
		page.Shipping = json.RawMessage(`"SET_PROVIDED_ADDRESS"`)
	}
	return page
}
