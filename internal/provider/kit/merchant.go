package kit

import "github.com/paylatch/paylatch/webhooks"

// MerchantID returns the key with the provider's id of the merchant. It is optional if calls don't need it.
func MerchantID(optional bool) webhooks.Key {
	return webhooks.Key{
		Name: "merchant_id", Optional: optional,
		Doc: "the merchant's id at Braintree, PayPal or Square; at PayPal and Square paylatch does not count payments to another merchant",
	}
}
