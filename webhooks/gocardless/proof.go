package gocardless

import (
	"context"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// Verifier is safe for concurrent use.
type Verifier struct{ mac read.BodyMAC }

// New returns a verifier by [webhooks.Config.Secrets], the endpoint secrets as text. None, or an empty one, wraps
// ErrConfig.
func New(c webhooks.Config) (*Verifier, error) {
	keys, err := read.Keys(c)
	if err != nil {
		return nil, err
	}
	return &Verifier{mac: read.BodyMAC{Header: "Webhook-Signature", Keys: keys}}, nil
}

// Verify implements [webhooks.Verifier]. Without the header it returns ErrSignatureMissing, and for a header
// that no secret made ErrSignatureInvalid.
// The whole body counts, including a line feed at its end (which GoCardless's own Go library misses). The signature covers
// no time. An event of another form is unreadable; the other events of its batch count.
//
// GoCardless documents the status 498 for a delivery with a wrong signature; any other that is not 2xx does the same,
// and the choice is the receiver's.
//
// An event has no amount and not the merchant's reference, unless the webhook carries resource_metadata: those about
// payments and refunds need a fetch. Their kind is that of the action. "failed" comes before the confirmation, and is then a
// failure, or after it (a late failure), and is then money taken back; nothing in the event decides which. It is KindUndone.
// So is late_failure_settled, which is about the payout that lacks a debit that failed late; charged_back,
// chargeback_settled and chargeback_cancelled are about a chargeback. fulfilled of a billing request names the payment that
// it has made, and cancelled its end; the billing request is a Container.
func (g *Verifier) Verify(_ context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	index, err := g.mac.Match(d)
	if err != nil {
		return nil, err
	}
	return read.By(index, g.Read(d)), nil
}

// Read implements [webhooks.Reader].
func (g *Verifier) Read(d webhooks.Delivery) []webhooks.Event { return parse(d.Body) }

// Sign implements [webhooks.Signer]: it sets Webhook-Signature.
func (g *Verifier) Sign(d *webhooks.Delivery) error { return g.mac.Sign(d) }

// Ack implements [webhooks.Verifier]: any 2xx, the body ignored (the documentation's examples answer 204).
func (g *Verifier) Ack(webhooks.Delivery, []webhooks.Event) webhooks.Ack { return webhooks.OK() }
