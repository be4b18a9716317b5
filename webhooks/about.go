package webhooks

// About describes a provider's webhooks for operators, one fact a field. The page of providers is made of it.
type About struct {
	// Kind is the kind's name in the configuration; Name, the provider's. A provider's package leaves Kind empty, as it
	// may serve several.
	Kind, Name string
	// Header names the proof of a delivery: a header, or a field of the body if the text mentions the body. It may be
	// empty. The proof's inputs are in brackets.
	Header string
	// EventID is where an event's id comes from.
	EventID string
	// Ack is the response that the provider takes for "received", and how long the provider waits for it, if documented.
	Ack string
	// RetryHorizon is how long, and how often, the provider sends again.
	RetryHorizon string
	// Methods are the events of stored payment methods that are read, and the ignored events, with the reason. Reviews is how a
	// payment shows that the provider reviews it. Each is "none" where the provider has none.
	Methods, Reviews string
	// Quirks are surprising facts, each a sentence.
	Quirks []string
	// Setup are the steps that lead to the first event.
	Setup []string
	// Reference is where a payment that is begun elsewhere has the attempt's id.
	Reference ReferenceForm
	// Unsigned is set where a webhook proves nothing and must be looked up at the provider.
	Unsigned bool
	// Keys are the keys of the account's configuration that fill a [Config].
	Keys []Key
}

// Key is a key of an account in paylatch's configuration: webhook_secrets ([Config.Secrets]), public_url
// ([Config.PublicURL]), cert_roots ([Config.Roots]), or a key of [Config.Params].
type Key struct {
	// Name has a dot where the key is in a section: basic_auth.user.
	Name string
	// Doc is the meaning, for the manual; empty where every kind may have the key.
	Doc string
	// OneOf are the values that it may have; nil allows any.
	OneOf            []string
	Optional, Secret bool
	// With is a key that is required if this key has a value; empty: none.
	With string
}

// SecretsKey is that of a scheme that needs [Config.Secrets].
func SecretsKey() Key { return Key{Name: "webhook_secrets"} }

// CurrencyKey is that of a provider with amounts that come without a currency.
func CurrencyKey() Key {
	return Key{Name: "currency", Optional: true, Doc: "the currency of notices and calls without one; of ISO 4217, in upper case"}
}
