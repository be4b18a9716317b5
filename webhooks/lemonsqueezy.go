package webhooks

import "context"

// LemonSqueezy verifies and makes deliveries of Lemon Squeezy
// (https://docs.lemonsqueezy.com/help/webhooks/signing-requests): the header
// X-Signature, the hex HMAC-SHA256 of the raw body.
//
// It is safe for concurrent use.
type LemonSqueezy struct{ mac bodyMAC }

// NewLemonSqueezy returns a verifier by [Config.Secrets], the signing secrets of
// 6 to 40 characters as text. None, or an empty one, wraps ErrConfig.
func NewLemonSqueezy(c Config) (*LemonSqueezy, error) {
	keys, err := textKeys(c)
	if err != nil {
		return nil, err
	}
	return &LemonSqueezy{mac: bodyMAC{header: "X-Signature", keys: keys}}, nil
}

// Verify implements [Verifier]. No X-Signature is ErrSignatureMissing, one that no
// secret made ErrSignatureInvalid. The header X-Event-Name is not signed and not
// looked at: meta.event_name counts. There is no time in what is signed.
//
// There is no event id: it is derived from the event's name, the type and id of
// the object, its status, the amount refunded and updated_at, so that two refunds
// of one order are two events.
func (l *LemonSqueezy) Verify(_ context.Context, d Delivery) ([]Event, error) {
	index, err := l.mac.match(d)
	if err != nil {
		return nil, err
	}
	event, err := parseLemonSqueezy(d.Body)
	if err != nil {
		return nil, err
	}
	event.SecretIndex = index
	return []Event{event}, nil
}

// Sign implements [Signer]: it sets X-Signature.
func (l *LemonSqueezy) Sign(d *Delivery) error { return l.mac.sign(d) }

// Ack implements [Verifier]: exactly 200, the body ignored.
func (l *LemonSqueezy) Ack(Delivery, []Event) Ack { return OK() }

// About implements [Describer].
func (*LemonSqueezy) About() About {
	return About{
		Name:         "Lemon Squeezy",
		Header:       "X-Signature (hex HMAC-SHA256 over the body)",
		EventID:      "derived: event name, object type and id, status, refunded amount and updated_at",
		Ack:          "exactly 200",
		RetryHorizon: "3 tries, after 5, 25 and 125 s",
		Quirks: []string{
			"After some three minutes of downtime nothing comes again: what was missed must be asked for.",
			"The header X-Event-Name is not signed; the name in the body counts.",
			"refunded_amount is the total so far.",
			"Amounts are integers called cents; what that means for currencies without cents is not documented.",
		},
		Setup: [5]string{
			"Settings, Webhooks: add the address of the account's endpoint.",
			"Make up a signing secret of 6 to 40 characters and put it into webhook_secrets.",
			"Choose order_created, order_refunded and subscription_payment_*.",
			"Send the payment attempt's id as checkout[custom][payment_attempt_id].",
			"Make an order in test mode, or send a simulated event.",
		},
	}
}
