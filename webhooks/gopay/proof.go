package gopay

import (
	"context"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// Verifier is safe for concurrent use.
type Verifier struct{}

// New returns a verifier. There is no secret, and GoPay documents no addresses: where a contract names them,
// [webhooks.Senders] checks them.
func New(webhooks.Config) (*Verifier, error) { return &Verifier{}, nil }

// Verify implements [webhooks.Verifier]. A notification proves nothing but that the sender has an id, so that it is
// KindNotice with NeedsFetch, an id of its own for each arrival and SecretIndex -1. The id goes into the path of a call
// to GoPay: an id that is not plain digits, and a query without an id, are ErrPayload.
func (g *Verifier) Verify(_ context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	return read.Unproven(parse(d))
}

// Read implements [webhooks.Reader]. None is stored that could not be read before.
func (g *Verifier) Read(d webhooks.Delivery) []webhooks.Event {
	event, err := parse(d)
	return read.One([]byte(read.Query(d)), event, err)
}

// Ack implements [webhooks.Verifier]: exactly 200; any other status is not delivered.
func (g *Verifier) Ack(webhooks.Delivery, []webhooks.Event) webhooks.Ack { return webhooks.OK() }
