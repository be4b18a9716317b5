package razorpay

import (
	"context"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// Verifier is safe for concurrent use.
type Verifier struct{ mac read.BodyMAC }

// New returns a verifier by [webhooks.Config.Secrets], the webhook secrets as text. After a change Razorpay signs
// retries of older deliveries with the old secret: keep both for a day. None, or an empty one, wraps ErrConfig.
func New(c webhooks.Config) (*Verifier, error) {
	keys, err := read.Keys(c)
	if err != nil {
		return nil, err
	}
	return &Verifier{mac: read.BodyMAC{Header: "X-Razorpay-Signature", Keys: keys}}, nil
}

// Verify implements [webhooks.Verifier]. Without the header it returns ErrSignatureMissing, and for a header
// that no secret made ErrSignatureInvalid.
// The signature covers no time.
//
// Razorpay's own event id comes in a header that the signature does not cover: a captured delivery could be sent again
// under a new id. So that id is not used. The event's id is derived from signed fields: the event's name, its created_at
// and the ids of its entities.
func (r *Verifier) Verify(_ context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	index, err := r.mac.Match(d)
	if err != nil {
		return nil, err
	}
	return read.By(index, r.Read(d)), nil
}

// Read implements [webhooks.Reader].
func (r *Verifier) Read(d webhooks.Delivery) []webhooks.Event {
	event, err := parse(d.Body)
	return read.One(d.Body, event, err)
}

// Sign implements [webhooks.Signer]: it sets X-Razorpay-Signature, and leaves x-razorpay-event-id, which means nothing
// here, to the caller.
func (r *Verifier) Sign(d *webhooks.Delivery) error { return r.mac.Sign(d) }

// Ack implements [webhooks.Verifier]: any 2xx within 5 s, the body ignored.
func (r *Verifier) Ack(webhooks.Delivery, []webhooks.Event) webhooks.Ack { return webhooks.OK() }
