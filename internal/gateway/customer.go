package gateway

// Customer is the payment's customer at the provider. All but Reference may be empty.
type Customer struct {
	// Reference is the customer's id at the provider: the user's id, unless a service names another.
	Reference string `json:"reference,omitempty"`
	Email     string `json:"email,omitempty"`
	Name      string `json:"name,omitempty"`
	// Phone is in the form of E.164.
	Phone string `json:"phone,omitempty"`
	IP    string `json:"ip,omitempty"`
	// Locale is a language tag (BCP 47).
	Locale   string   `json:"locale,omitempty"`
	Billing  *Address `json:"billing_address,omitempty"`
	Shipping *Address `json:"shipping_address,omitempty"`
}

// Address is a postal one. Country is ISO 3166-1 alpha-2; all else may be empty.
type Address struct {
	Line1      string `json:"line1,omitempty"`
	Line2      string `json:"line2,omitempty"`
	City       string `json:"city,omitempty"`
	PostalCode string `json:"postal_code,omitempty"`
	State      string `json:"state,omitempty"`
	Country    string `json:"country,omitempty"`
}
