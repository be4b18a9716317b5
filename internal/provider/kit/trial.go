package kit

// Trial describes payments in the provider's test mode.
type Trial struct {
	// BaseURL is the address of the test mode. It is empty if the test mode has no address of its own, or if the form of the key
	// leads there.
	BaseURL string
	// Params are the keys that have one value in test mode.
	Params map[string]string
	// Token is a payment method that the provider publishes for tests and that pays without a browser. Page is a payment method
	// that leads the customer to a page of the provider. At most one of them is set.
	Token, Page string
	// Decline is a payment method that the provider publishes for tests and that it declines; Challenge is a payment method with a
	// second step of the customer, such as 3-D Secure. Each is empty if the provider publishes none.
	Decline, Challenge string
	// ByHand is an instruction for a person: how to pay on the page, or how to make a token if there is neither Token nor Page.
	ByHand string
	// Currency is the currency of a test payment; empty: EUR.
	Currency string
	// Unannounced is set if the provider sends no webhook for a payment with Token.
	Unannounced bool
	// Tunnel is the provider's own command that forwards webhooks to {endpoint}; empty if the provider has none.
	Tunnel string
}
