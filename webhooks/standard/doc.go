// Package standard verifies and makes Standard Webhooks. The proof is in the headers webhook-* or, as Svix sends them,
// svix-* (https://github.com/standard-webhooks/standard-webhooks, spec 1.0.0). The package reads the event shape of
// paylatch's sandbox; see [Verifier.Verify].
package standard

import "github.com/paylatch/paylatch/webhooks"

// About describes the provider for operators.
func About() webhooks.About {
	return webhooks.About{
		Name:         "Standard Webhooks",
		Header:       "webhook-signature or svix-signature (v1, an HMAC-SHA256, or v1a, an ed25519 signature, over the id, the time and the body; several at once)",
		EventID:      "native: the header webhook-id",
		Ack:          "any 2xx",
		RetryHorizon: "the sender's; Svix: 7 times over 27 hours",
		Methods:      "none",
		Reviews:      "none",
		Keys:         []webhooks.Key{webhooks.SecretsKey()},
		Quirks: []string{
			"The signed time may differ by 5 minutes in either direction.",
			"A key works for one version only: whsec_ for v1, whpk_ and whsk_ for v1a.",
			"A charge is a payment. container_id names its container.",
		},
		Setup: []string{
			"Give the sender the address of the account's endpoint.",
			"Put the secret that the sender shows into webhook_secrets: whsec_… (shared) or whpk_… (public key).",
			"The sender must send the events of docs/reference/standard-provider.md (go doc ./webhooks/standard Verifier.Verify); paylatch records any other JSON as ignored.",
			"Send a test event and search for its webhook-id; paylatch stores it with any verdict.",
		},
		Reference: webhooks.ReferenceForm{
			Field: "reference",
			Doc:   "Put it into reference of the charge; events have it as data.reference.",
		},
	}
}
