package paypal

import (
	"encoding/json"

	"github.com/paylatch/paylatch/internal/gateway"
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
