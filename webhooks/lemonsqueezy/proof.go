package lemonsqueezy

import (
	"context"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// Verifier is safe for concurrent use.
type Verifier struct{ mac read.BodyMAC }

// New returns a verifier by [webhooks.Config.Secrets], the signing secrets of 6 to 40 characters as text. None, or an
// empty one, wraps ErrConfig.
func New(c webhooks.Config) (*Verifier, error) {
	keys, err := read.Keys(c)
	if err != nil {
		return nil, err
	}
	return &Verifier{mac: read.BodyMAC{Header: "X-Signature", Keys: keys}}, nil
}

// Verify implements [webhooks.Verifier]. Without X-Signature it returns ErrSignatureMissing, and for a
// signature that no secret made ErrSignatureInvalid. The header X-Event-Name is not signed and not looked at: meta.event_name counts. The signature
// covers no time.
//
// There is no event id: it is derived from the event's name, the type and id of the object, its status, the amount
// refunded and updated_at, so that two refunds of one order are two events.
func (l *Verifier) Verify(_ context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	index, err := l.mac.Match(d)
	if err != nil {
		return nil, err
	}
	return read.By(index, l.Read(d)), nil
}

// Read implements [webhooks.Reader].
func (l *Verifier) Read(d webhooks.Delivery) []webhooks.Event {
	event, err := parse(d.Body)
	return read.One(d.Body, event, err)
}

// Sign implements [webhooks.Signer]: it sets X-Signature.
func (l *Verifier) Sign(d *webhooks.Delivery) error { return l.mac.Sign(d) }

// Ack implements [webhooks.Verifier]: exactly 200, the body ignored.
func (l *Verifier) Ack(webhooks.Delivery, []webhooks.Event) webhooks.Ack { return webhooks.OK() }
