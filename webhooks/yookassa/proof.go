package yookassa

import (
	"context"
	"net/netip"
	"slices"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// Verifier is safe for concurrent use.
type Verifier struct{ senders webhooks.Senders }

// New returns a verifier by the documented addresses, or by [webhooks.Config.AllowedIPs] in their place. It has no
// secret.
func New(c webhooks.Config) (*Verifier, error) {
	if len(c.AllowedIPs) > 0 {
		return &Verifier{senders: slices.Clone(c.AllowedIPs)}, nil
	}
	var documented webhooks.Senders
	for _, text := range []string{
		"185.71.76.0/27", "185.71.77.0/27", "77.75.153.0/25", "77.75.154.128/25",
		"77.75.156.11/32", "77.75.156.35/32", "2a02:5180::/32",
	} {
		documented = append(documented, netip.MustParsePrefix(text))
	}
	return &Verifier{senders: documented}, nil
}

// Verify implements [webhooks.Verifier]: it checks [webhooks.Delivery.RemoteAddr], which must be the real peer and not
// a proxy of the receiver's. Any other address is ErrSender.
func (y *Verifier) Verify(_ context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	if err := y.senders.Check(d.RemoteAddr); err != nil {
		return nil, err
	}
	return read.By(-1, y.Read(d)), nil
}

// Read implements [webhooks.Reader].
func (y *Verifier) Read(d webhooks.Delivery) []webhooks.Event {
	event, err := parse(d)
	return read.One(d.Body, event, err)
}

// Ack implements [webhooks.Verifier]: exactly 200; any other code, even 201, means that the notification was not
// delivered.
func (y *Verifier) Ack(webhooks.Delivery, []webhooks.Event) webhooks.Ack { return webhooks.OK() }
