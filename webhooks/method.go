package webhooks

// Method is the part of an event about a payment method that the provider has stored for later payments
// ([KindMethodUpdated], [KindMethodRemoved]). It is about no payment: the event has no References.
type Method struct {
	// Tokens are the names by which the merchant may charge the method. The provider stores one method, and the event does
	// not always contain by which of the names the merchant has it.
	Tokens []string `json:"tokens,omitzero"`
	// Type is the provider's word for the method, Display is for people, such as "visa •••• 4242". Expires is YYYY-MM. Each
	// is empty where the event does not state it.
	Type    string `json:"type,omitzero"`
	Display string `json:"display,omitzero"`
	Expires string `json:"expires,omitzero"`
	// Restored is set on an event of [KindMethodUpdated] where the method had been removed, and can be charged again.
	Restored bool `json:"restored,omitzero"`
}
