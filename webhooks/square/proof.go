package square

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

const header = "x-square-hmacsha256-signature"

// Verifier is safe for concurrent use.
type Verifier struct {
	keys [][]byte
	url  []byte
}

// New returns a verifier by [webhooks.Config.Secrets], the signature keys of the subscription as text, and
// [webhooks.Config.PublicURL], the notification URL byte for byte as it is registered at Square: scheme, slash at the
// end and query count. The URL of the request is not used, because a proxy may have changed it. No key, an empty one or
// no URL wraps ErrConfig.
func New(c webhooks.Config) (*Verifier, error) {
	keys, err := read.Keys(c)
	if err != nil {
		return nil, err
	}
	if c.PublicURL == "" {
		return nil, fmt.Errorf("%w: no public_url, which Square signs", webhooks.ErrConfig)
	}
	return &Verifier{keys: keys, url: []byte(c.PublicURL)}, nil
}

// Verify implements [webhooks.Verifier]. Without the header it returns ErrSignatureMissing, and for a header that
// no key made with this URL ErrSignatureInvalid. The older header x-square-signature (SHA-1) is not looked at. The signature covers no time.
func (s *Verifier) Verify(_ context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	values := read.HeaderValues(d.Header, header)
	if len(values) == 0 {
		return nil, fmt.Errorf("%w: header %s", webhooks.ErrSignatureMissing, header)
	}
	index := read.Match(sha256.New, s.keys, read.DecodeAll(values, read.Base64.DecodeString), s.url, d.Body)
	if index < 0 {
		return nil, fmt.Errorf("%w: none of %d secrets matches with this public_url", webhooks.ErrSignatureInvalid, len(s.keys))
	}
	return read.By(index, s.Read(d)), nil
}

// Read implements [webhooks.Reader].
func (s *Verifier) Read(d webhooks.Delivery) []webhooks.Event {
	event, err := parse(d.Body)
	return read.One(d.Body, event, err)
}

// Sign implements [webhooks.Signer]: it sets x-square-hmacsha256-signature.
func (s *Verifier) Sign(d *webhooks.Delivery) error {
	read.SetHeader(d, header, read.Base64.EncodeToString(read.MAC(sha256.New, s.keys[0], s.url, d.Body)))
	return nil
}

// Ack implements [webhooks.Verifier]: any 2xx, the body ignored.
func (s *Verifier) Ack(webhooks.Delivery, []webhooks.Event) webhooks.Ack { return webhooks.OK() }
