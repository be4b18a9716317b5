package webhooks

import "context"

// Razorpay verifies and makes deliveries of Razorpay
// (https://razorpay.com/docs/webhooks/validate-test/): the header
// X-Razorpay-Signature, the hex HMAC-SHA256 of the raw body.
//
// It is safe for concurrent use.
type Razorpay struct{ mac bodyMAC }

// NewRazorpay returns a verifier by [Config.Secrets], the webhook secrets as
// text. After a change Razorpay signs retries of older deliveries with the old
// secret: keep both for a day. None, or an empty one, wraps ErrConfig.
func NewRazorpay(c Config) (*Razorpay, error) {
	keys, err := textKeys(c)
	if err != nil {
		return nil, err
	}
	return &Razorpay{mac: bodyMAC{header: "X-Razorpay-Signature", keys: keys}}, nil
}

// Verify implements [Verifier]. No header is ErrSignatureMissing, one that no
// secret made ErrSignatureInvalid. There is no time in what is signed.
//
// Razorpay's own event id comes in a header that the signature does not cover:
// whoever has captured a delivery could send it again under a new id. It is not
// used. The id is derived from what is signed: the event's name, its created_at
// and the ids of the entities that it contains.
func (r *Razorpay) Verify(_ context.Context, d Delivery) ([]Event, error) {
	index, err := r.mac.match(d)
	if err != nil {
		return nil, err
	}
	event, err := parseRazorpay(d.Body)
	if err != nil {
		return nil, err
	}
	event.SecretIndex = index
	return []Event{event}, nil
}

// Sign implements [Signer]: it sets X-Razorpay-Signature, and leaves
// x-razorpay-event-id, which says nothing here, to the caller.
func (r *Razorpay) Sign(d *Delivery) error { return r.mac.sign(d) }

// Ack implements [Verifier]: any 2xx within 5 s, the body ignored.
func (r *Razorpay) Ack(Delivery, []Event) Ack { return OK() }

// About implements [Describer].
func (*Razorpay) About() About {
	return About{
		Name:         "Razorpay",
		Header:       "X-Razorpay-Signature (hex HMAC-SHA256 over the body)",
		EventID:      "derived: event, created_at and the ids of the entities; the header x-razorpay-event-id is not signed and not used",
		Ack:          "any 2xx within 5 s",
		RetryHorizon: "24 hours, ever more slowly; then the webhook is disabled",
		Quirks: []string{
			"A payment is a snapshot: payment.authorized may arrive, or say, that it is captured already.",
			"payment.failed is not final: the customer may pay the same order again.",
			"notes is an object, but [] when it is empty.",
			"order.paid and payment.captured tell of the same money; the second is a repeat.",
			"Retries of a delivery made before a change of secret bear the old secret's signature.",
		},
		Setup: [5]string{
			"Dashboard, Account & Settings, Webhooks: add the address of the account's endpoint.",
			"Choose payment_link.*, payment.authorized, payment.captured, payment.failed, order.paid, refund.* and payment.dispute.*.",
			"Make up a secret there and put it into webhook_secrets.",
			"Payments that are not made here: send the attempt's id as notes.payment_attempt_id, or as the receipt of the order.",
			"To change the secret, keep the old one as second for at least a day.",
		},
	}
}
