package mollie

import (
	"context"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// Verifier is safe for concurrent use.
type Verifier struct{ mac read.BodyMAC }

// New returns a verifier by [webhooks.Config.Secrets], the signing secrets of the next-generation webhooks, the whole
// text each; none means that only classic notices are taken. An empty secret wraps ErrConfig.
func New(c webhooks.Config) (*Verifier, error) {
	m := &Verifier{mac: read.BodyMAC{Header: "X-Mollie-Signature", Prefix: "sha256="}}
	if len(c.Secrets) == 0 {
		return m, nil
	}
	keys, err := read.Keys(c)
	if err != nil {
		return nil, err
	}
	m.mac.Keys = keys
	return m, nil
}

// Verify implements [webhooks.Verifier]. JSON must be signed: "sha256=" (which may be left out, as Mollie's own library
// allows) and the hex HMAC-SHA256 of the body. Without the header Verify returns ErrSignatureMissing, and for a
// header that no secret made ErrSignatureInvalid. For 24 hours after a rotation the header comes twice; one good value is enough.
//
// A form is a classic notice: it proves nothing but that the sender has an id, so that it is KindNotice with
// NeedsFetch, an id of its own for each arrival and SecretIndex -1, whether secrets are configured or not (payments
// made with a webhookUrl are announced in no other way). A signature that stands beside a form is checked all the same.
// The id goes into the path of a call to Mollie: an id that is not letters, "_", letters and digits is ErrPayload if no
// signature stands beside it. A classic notice should be acknowledged even if Mollie has no such payment.
func (m *Verifier) Verify(_ context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	object := read.IsObject(d.Body)
	signed := len(m.mac.Keys) > 0 && len(read.HeaderValues(d.Header, m.mac.Header)) > 0
	if !object && !signed {
		return read.Unproven(parseClassic(d))
	}
	index, err := m.mac.Match(d)
	if err != nil {
		return nil, err
	}
	return read.By(index, m.Read(d)), nil
}

// Read implements [webhooks.Reader].
func (m *Verifier) Read(d webhooks.Delivery) []webhooks.Event {
	event, err := readEvent(d)
	return read.One(d.Body, event, err)
}

// Sign implements [webhooks.Signer]: it sets X-Mollie-Signature. Without a secret there is nothing to sign with, and
// classic notices need none: ErrConfig.
func (m *Verifier) Sign(d *webhooks.Delivery) error { return m.mac.Sign(d) }

// Ack implements [webhooks.Verifier]: any 2xx within 15 s, the body ignored.
func (m *Verifier) Ack(webhooks.Delivery, []webhooks.Event) webhooks.Ack { return webhooks.OK() }
