package paddle

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

const (
	// maxAge is the age that Paddle's documentation and Node SDK allow.
	maxAge = 5 * time.Second
	// maxAhead is ours, see New.
	maxAhead = time.Minute
)

// Verifier is safe for concurrent use.
type Verifier struct{ mac read.StampedMAC }

// New returns a verifier by [webhooks.Config.Secrets], the notification destination's secret keys: the whole text with
// "pdl_ntfset_" is the key. None, or an empty one, wraps ErrConfig.
//
// [webhooks.Config.Tolerance] replaces the 5 seconds of age that Paddle recommends: little, so that a receiver without
// NTP refuses everything; 30 s or a minute is as safe, since an event counts once anyway. Paddle's SDKs don't look at
// times ahead; here one more than a minute ahead is refused (ErrTooNew). A negative tolerance switches both limits off.
func New(c webhooks.Config) (*Verifier, error) {
	keys, err := read.Keys(c)
	if err != nil {
		return nil, err
	}
	return &Verifier{mac: read.StampedMAC{
		Header: "Paddle-Signature", Between: ";", Stamp: "ts", Sum: "h1", Joint: ":",
		Keys: keys, Window: read.WindowOf(c, maxAge, maxAhead),
	}}, nil
}

// Verify implements [webhooks.Verifier]. Several h1 are accepted, as they come while a secret is rotated (Paddle's Go
// SDK refuses two). An h1 that is not hex is skipped, and so are elements of another name. No header, or no h1 in it, is
// ErrSignatureMissing. An element without "=" is ErrSignatureMalformed, and so is a time that is missing, not a number or
// there twice.
func (p *Verifier) Verify(_ context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	index, err := p.mac.Match(d)
	if err != nil {
		return nil, err
	}
	return read.By(index, p.Read(d)), nil
}

// Read implements [webhooks.Reader].
func (p *Verifier) Read(d webhooks.Delivery) []webhooks.Event {
	event, err := parse(d.Body)
	return read.One(d.Body, event, err)
}

// Sign implements [webhooks.Signer]: it sets Paddle-Signature.
func (p *Verifier) Sign(d *webhooks.Delivery) error { return p.mac.Sign(d) }

// Ack implements [webhooks.Verifier]: 200 within 5 s, the body ignored.
func (p *Verifier) Ack(webhooks.Delivery, []webhooks.Event) webhooks.Ack { return webhooks.OK() }
