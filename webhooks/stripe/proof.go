package stripe

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

const (
	// maxAge is the limit that Stripe's libraries use.
	maxAge = 5 * time.Minute
	// maxAhead is ours, see New.
	maxAhead = time.Hour
)

// Verifier is safe for concurrent use.
type Verifier struct{ mac read.StampedMAC }

// New returns a verifier by [webhooks.Config.Secrets], the endpoint's signing secrets: the whole text with "whsec_" is
// the key, it is not base64 here. [webhooks.Config.Tolerance] replaces the 5 minutes of age. None, or an empty one,
// wraps ErrConfig.
//
// Stripe's own libraries accept any timestamp of the future, because only Stripe can sign one. Here one more than an
// hour ahead is refused (ErrTooNew): a clock that far behind would accept old deliveries as fresh. A negative tolerance
// switches both limits off.
func New(c webhooks.Config) (*Verifier, error) {
	keys, err := read.Keys(c)
	if err != nil {
		return nil, err
	}
	return &Verifier{mac: read.StampedMAC{
		Header: "Stripe-Signature", Between: ",", Stamp: "t", Sum: "v1", Joint: ".",
		Keys: keys, Window: read.WindowOf(c, maxAge, maxAhead),
	}}, nil
}

// Verify implements [webhooks.Verifier]. Only v1 counts; one of another scheme, or that is not hex, is skipped, and hex
// may be in either case. The errors: no header, or no v1 in it, is ErrSignatureMissing; an element without "=", and a
// timestamp that is missing, not a number or there twice, ErrSignatureMalformed.
func (s *Verifier) Verify(_ context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	index, err := s.mac.Match(d)
	if err != nil {
		return nil, err
	}
	return read.By(index, s.Read(d)), nil
}

// Read implements [webhooks.Reader].
func (s *Verifier) Read(d webhooks.Delivery) []webhooks.Event {
	event, err := parse(d.Body)
	return read.One(d.Body, event, err)
}

// Sign implements [webhooks.Signer]: it sets Stripe-Signature.
func (s *Verifier) Sign(d *webhooks.Delivery) error { return s.mac.Sign(d) }

// Ack implements [webhooks.Verifier]: any 2xx, the body ignored.
func (s *Verifier) Ack(webhooks.Delivery, []webhooks.Event) webhooks.Ack { return webhooks.OK() }
