package webhooks

import "context"

// GoCardless verifies and makes deliveries of GoCardless
// (https://developer.gocardless.com/getting-started/staying-up-to-date-with-webhooks):
// the header Webhook-Signature, the hex HMAC-SHA256 of the raw body, over a batch
// of up to 250 events.
//
// It is safe for concurrent use.
type GoCardless struct{ mac bodyMAC }

// NewGoCardless returns a verifier by [Config.Secrets], the endpoint secrets as
// text. None, or an empty one, wraps ErrConfig.
func NewGoCardless(c Config) (*GoCardless, error) {
	keys, err := textKeys(c)
	if err != nil {
		return nil, err
	}
	return &GoCardless{mac: bodyMAC{header: "Webhook-Signature", keys: keys}}, nil
}

// Verify implements [Verifier]. No header is ErrSignatureMissing, one that no
// secret made ErrSignatureInvalid. The whole body counts, down to a line feed at
// its end (which GoCardless's own Go library misses). There is no time in what is
// signed. One event of another form makes the whole batch ErrPayload: GoCardless
// would repeat all of it in any case.
//
// GoCardless documents the status 498 for a delivery whose signature is wrong;
// any other that is not 2xx does the same, and the choice is the receiver's.
//
// An event has no amount and not the merchant's reference, unless the webhook
// carries resource_metadata: those about payments and refunds need a fetch. Their
// kind is what the action says, with one reservation. "failed" comes before the
// confirmation, and is then a failure, or after it (a late failure), and is then
// money taken back; nothing in the event tells which. It is KindFailed: whoever
// finds the payment confirmed before must take it for KindReversed.
// late_failure_settled, which comes only after a confirmation, is KindReversed by
// itself; charged_back, chargeback_settled and chargeback_cancelled tell of a chargeback.
func (g *GoCardless) Verify(_ context.Context, d Delivery) ([]Event, error) {
	index, err := g.mac.match(d)
	if err != nil {
		return nil, err
	}
	events, err := parseGoCardless(d.Body)
	if err != nil {
		return nil, err
	}
	for i := range events {
		events[i].SecretIndex = index
	}
	return events, nil
}

// Sign implements [Signer]: it sets Webhook-Signature.
func (g *GoCardless) Sign(d *Delivery) error { return g.mac.sign(d) }

// Ack implements [Verifier]: any 2xx, the body ignored (the documentation's
// examples answer 204).
func (g *GoCardless) Ack(Delivery, []Event) Ack { return OK() }

// About implements [Describer].
func (*GoCardless) About() About {
	return About{
		Name:         "GoCardless",
		Header:       "Webhook-Signature (hex HMAC-SHA256 over the body)",
		EventID:      "native: events[].id (EV…), up to 250 of them in one body",
		Ack:          "any 2xx",
		RetryHorizon: "not documented; the whole batch is sent again",
		Quirks: []string{
			"An event has no amount: the payment must be asked for.",
			"confirmed may still turn into failed (late failure) or charged_back, days later.",
			"The status 498 is documented for a wrong signature; any other refusal does as well.",
			"failed looks the same before and after the confirmation; only what was known before tells.",
			"failed with will_attempt_retry is not final: GoCardless collects the same payment again.",
			"The official Go library refuses some genuine bodies that end in a line feed; here the whole body counts.",
		},
		Setup: [5]string{
			"Dashboard, Developers, Create, Webhook endpoint: the address of the account's endpoint.",
			"Give it a secret, or take the one that is made, and put it into webhook_secrets.",
			"Put an access token that may read payments and refunds into api_key.",
			"Send the payment attempt's id as metadata payment_attempt_id of the payment.",
			"Send a test webhook from the dashboard: its events are recorded as deferred, as those of real payments are until GoCardless is asked.",
		},
	}
}
