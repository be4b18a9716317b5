package webhooks

import (
	"context"
	"time"
)

const (
	// stripeTolerance is the limit that Stripe's libraries use.
	stripeTolerance = 5 * time.Minute
	// stripeFuture is ours, see NewStripe.
	stripeFuture = time.Hour
)

// Stripe verifies and makes deliveries of Stripe
// (https://docs.stripe.com/webhooks, "Verify webhook signatures manually"): the
// header Stripe-Signature with "t=<seconds>" and one "v1=<hex>" for each live
// secret.
//
// It is safe for concurrent use.
type Stripe struct{ mac stampedMAC }

// NewStripe returns a verifier by [Config.Secrets], the endpoint's signing
// secrets: the whole text with "whsec_" is the key, it is not base64 here.
// [Config.Tolerance] replaces the 5 minutes of age. None, or an empty one, wraps
// ErrConfig.
//
// Stripe's own libraries accept any timestamp of the future, because only Stripe
// can sign one. Here one more than an hour ahead is refused (ErrTooNew): a clock
// that far behind would accept old deliveries as fresh. A negative tolerance
// switches both limits off.
func NewStripe(c Config) (*Stripe, error) {
	keys, err := textKeys(c)
	if err != nil {
		return nil, err
	}
	return &Stripe{mac: stampedMAC{
		header: "Stripe-Signature", between: ",", stamp: "t", sum: "v1", joint: ".",
		keys: keys, window: windowOf(c, stripeTolerance, stripeFuture),
	}}, nil
}

// Verify implements [Verifier]. Only v1 counts; one of another scheme, or that
// is not hex, is skipped, and hex may be in either case. What is told apart:
// no header, or no v1 in it, is ErrSignatureMissing; an element without "=", and
// a timestamp that is missing, not a number or there twice, ErrSignatureMalformed.
func (s *Stripe) Verify(_ context.Context, d Delivery) ([]Event, error) {
	index, err := s.mac.match(d)
	if err != nil {
		return nil, err
	}
	event, err := parseStripe(d.Body)
	if err != nil {
		return nil, err
	}
	event.SecretIndex = index
	return []Event{event}, nil
}

// Sign implements [Signer]: it sets Stripe-Signature.
func (s *Stripe) Sign(d *Delivery) error { return s.mac.sign(d) }

// Ack implements [Verifier]: any 2xx, the body ignored.
func (s *Stripe) Ack(Delivery, []Event) Ack { return OK() }

// About implements [Describer].
func (*Stripe) About() About {
	return About{
		Name:         "Stripe",
		Header:       "Stripe-Signature (t, a time, and for each live secret a v1, a hex HMAC-SHA256 over the time and the body)",
		EventID:      "native: id (evt_…)",
		Ack:          "any 2xx",
		RetryHorizon: "live: up to 3 days, ever more slowly; sandbox: 3 times over a few hours",
		Quirks: []string{
			"The key is the whole text of the secret, whsec_ included: it is not base64.",
			"A timestamp may be 5 minutes old, and at most an hour ahead, which Stripe's libraries don't check.",
			"payment_intent.payment_failed is not final: the customer may try again on the same intent.",
			"Amounts of ISK and UGX come with two digits, those of MGA with none.",
			"amount_refunded of a charge is a total. Before version 2025-03-31 of the API it counts what a partial capture released, too.",
		},
		Setup: [5]string{
			"Dashboard, Developers, Webhooks: add an endpoint of API version 2025-03-31 or later with the address of the account's endpoint.",
			"Choose the events payment_intent.*, charge.*, refund.* and, with Checkout, checkout.session.*.",
			"Reveal the endpoint's signing secret (whsec_…) and put it into webhook_secrets.",
			"To roll the secret, put the new one beside the old one before the old one ends.",
			"Send the payment attempt's id as metadata payment_attempt_id of the payment intent.",
		},
	}
}
