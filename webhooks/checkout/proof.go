package checkout

import (
	"context"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// Verifier is safe for concurrent use.
type Verifier struct {
	mac           read.BodyMAC
	authorization string
}

// New returns a verifier by [webhooks.Config.Secrets], the signature keys as text. Params["authorization"], if set, is
// required of the header Authorization, byte for byte. No key, or an empty one, wraps ErrConfig.
func New(c webhooks.Config) (*Verifier, error) {
	keys, err := read.Keys(c)
	if err != nil {
		return nil, err
	}
	return &Verifier{mac: read.BodyMAC{Header: "Cko-Signature", Keys: keys}, authorization: c.Params["authorization"]}, nil
}

// Verify implements [webhooks.Verifier]. No Cko-Signature, and a configured Authorization that is absent, is
// ErrSignatureMissing. A wrong value of either header is ErrSignatureInvalid. The signature covers no time.
//
// Checkout.com has sent authentication_failed with a broken character in place of the name "data" (issue 408 of its
// Node SDK). Such a body is not JSON, but it is genuine, and is repaired before it is read.
func (c *Verifier) Verify(_ context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	index, err := c.mac.Match(d)
	if err != nil {
		return nil, err
	}
	if err := read.CheckAuthorization(d.Header, c.authorization); err != nil {
		return nil, err
	}
	return read.By(index, c.Read(d)), nil
}

// Read implements [webhooks.Reader].
func (c *Verifier) Read(d webhooks.Delivery) []webhooks.Event {
	event, err := parse(d.Body)
	return read.One(d.Body, event, err)
}

// Sign implements [webhooks.Signer]: it sets Cko-Signature, and Authorization if one is configured.
func (c *Verifier) Sign(d *webhooks.Delivery) error {
	if c.authorization != "" {
		read.SetHeader(d, "Authorization", c.authorization)
	}
	return c.mac.Sign(d)
}

// Ack implements [webhooks.Verifier]: any 2xx within 10 s, the body ignored.
func (c *Verifier) Ack(webhooks.Delivery, []webhooks.Event) webhooks.Ack { return webhooks.OK() }
