package webhooks

import (
	"context"
	"time"
)

const (
	// paddleTolerance is the age that Paddle's documentation and Node SDK allow.
	paddleTolerance = 5 * time.Second
	// paddleFuture is ours, see NewPaddle.
	paddleFuture = time.Minute
)

// Paddle verifies and makes deliveries of Paddle Billing
// (https://developer.paddle.com/webhooks/signature-verification): the header
// Paddle-Signature with "ts=<seconds>" and one "h1=<hex>" for each live secret,
// the HMAC-SHA256 of the time, ":" and the raw body.
//
// It is safe for concurrent use.
type Paddle struct{ mac stampedMAC }

// NewPaddle returns a verifier by [Config.Secrets], the notification
// destination's secret keys: the whole text with "pdl_ntfset_" is the key. None,
// or an empty one, wraps ErrConfig.
//
// [Config.Tolerance] replaces the 5 seconds of age that Paddle recommends: little,
// so that a receiver whose clock is not kept by NTP refuses everything; 30 s or a
// minute is as safe, since an event counts once anyway. Paddle's SDKs don't look
// at times ahead; here one more than a minute ahead is refused (ErrTooNew). A
// negative tolerance switches both limits off.
func NewPaddle(c Config) (*Paddle, error) {
	keys, err := textKeys(c)
	if err != nil {
		return nil, err
	}
	return &Paddle{mac: stampedMAC{
		header: "Paddle-Signature", between: ";", stamp: "ts", sum: "h1", joint: ":",
		keys: keys, window: windowOf(c, paddleTolerance, paddleFuture),
	}}, nil
}

// Verify implements [Verifier]. Several h1 are accepted, as they come while a
// secret is rotated (Paddle's Go SDK refuses two); one that is not hex is skipped,
// as is what has another name. No header, or no h1 in it, is
// ErrSignatureMissing; an element without "=", and a time that is missing, not a
// number or there twice, ErrSignatureMalformed.
func (p *Paddle) Verify(_ context.Context, d Delivery) ([]Event, error) {
	index, err := p.mac.match(d)
	if err != nil {
		return nil, err
	}
	event, err := parsePaddle(d.Body)
	if err != nil {
		return nil, err
	}
	event.SecretIndex = index
	return []Event{event}, nil
}

// Sign implements [Signer]: it sets Paddle-Signature.
func (p *Paddle) Sign(d *Delivery) error { return p.mac.sign(d) }

// Ack implements [Verifier]: 200 within 5 s, the body ignored.
func (p *Paddle) Ack(Delivery, []Event) Ack { return OK() }

// About implements [Describer].
func (*Paddle) About() About {
	return About{
		Name:         "Paddle Billing",
		Header:       "Paddle-Signature (ts, a time, and for each live secret an h1, a hex HMAC-SHA256 over the time and the body)",
		EventID:      "native: event_id, the same in all retries",
		Ack:          "200 within 5 s",
		RetryHorizon: "live: 60 tries over 3 days; sandbox: 3 in 15 minutes",
		Quirks: []string{
			"A signature may be 5 seconds old, as Paddle recommends: set tolerance if the clock is not kept by NTP.",
			"Two h1 come while a secret is rotated; the official Go SDK refuses them.",
			"transaction.payment_failed is not final: the customer may try again on the same transaction.",
			"Refunds and chargebacks are adjustments; they don't carry custom_data.",
			"Amounts are texts in minor units.",
		},
		Setup: [5]string{
			"Developer tools, Notifications, New destination: webhook, with the address of the account's endpoint.",
			"Choose transaction.* and adjustment.*.",
			"Put the endpoint secret key (pdl_ntfset_…), the whole text, into webhook_secrets.",
			"Send the payment attempt's id as custom_data.payment_attempt_id of the transaction.",
			"To rotate the secret, put the new one beside the old one before the old one ends.",
		},
	}
}
