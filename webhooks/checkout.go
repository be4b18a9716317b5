package webhooks

import "context"

// Checkout verifies and makes deliveries of Checkout.com
// (https://www.checkout.com/docs/developer-resources/webhooks/manage-webhooks):
// the header Cko-Signature, the hex HMAC-SHA256 of the raw body by the signature
// key, and optionally an Authorization header with a fixed text.
//
// It is safe for concurrent use.
type Checkout struct {
	mac           bodyMAC
	authorization string
}

// NewCheckout returns a verifier by [Config.Secrets], the signature keys as text.
// Params["authorization"], if set, is what the header Authorization must say, byte
// for byte. No key, or an empty one, wraps ErrConfig.
func NewCheckout(c Config) (*Checkout, error) {
	keys, err := textKeys(c)
	if err != nil {
		return nil, err
	}
	return &Checkout{mac: bodyMAC{header: "Cko-Signature", keys: keys}, authorization: c.Params["authorization"]}, nil
}

// Verify implements [Verifier]. No Cko-Signature, and a configured Authorization that
// is absent, is ErrSignatureMissing; another one of either is ErrSignatureInvalid.
// There is no time in what is signed.
//
// Checkout.com has sent authentication_failed with a broken character in place
// of the name "data" (issue 408 of its Node SDK): such a body is not JSON, but it
// is genuine, and is read as what it was meant to be.
func (c *Checkout) Verify(_ context.Context, d Delivery) ([]Event, error) {
	index, err := c.mac.match(d)
	if err != nil {
		return nil, err
	}
	if err := checkAuthorization(d.Header, c.authorization); err != nil {
		return nil, err
	}
	event, err := parseCheckout(d.Body)
	if err != nil {
		return nil, err
	}
	event.SecretIndex = index
	return []Event{event}, nil
}

// Sign implements [Signer]: it sets Cko-Signature, and Authorization if one is
// configured.
func (c *Checkout) Sign(d *Delivery) error {
	if c.authorization != "" {
		setHeader(d, "Authorization", c.authorization)
	}
	return c.mac.sign(d)
}

// Ack implements [Verifier]: any 2xx within 10 s, the body ignored.
func (c *Checkout) Ack(Delivery, []Event) Ack { return OK() }

// About implements [Describer].
func (*Checkout) About() About {
	return About{
		Name:         "Checkout.com",
		Header:       "Cko-Signature (hex HMAC-SHA256 over the body); Authorization with a text of yours besides, if configured",
		EventID:      "native: id (evt_…)",
		Ack:          "any 2xx within 10 s",
		RetryHorizon: "8 tries after 5, 10, 15 and 30 minutes, 1, 4, 12 and 12 hours",
		Quirks: []string{
			"payment_approved is a hold; the money is taken with payment_captured.",
			"payment_capture_declined leaves the hold: it is a soft failure.",
			"authentication_failed has been sent as invalid JSON; it is read all the same, and ignored.",
			"CLP has two digits here and none in ISO 4217.",
			"payment_returned (ACH and the like) takes money back after its success.",
		},
		Setup: [5]string{
			"Dashboard, Developers, Webhooks (or a workflow): add the address of the account's endpoint.",
			"Choose the payment_* and dispute_* events.",
			"Put the signature key into webhook_secrets.",
			"If you set an authorization header, put its value into authorization.",
			"Send the payment attempt's id as reference, or as metadata.payment_attempt_id.",
		},
	}
}
