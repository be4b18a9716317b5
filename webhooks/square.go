package webhooks

import (
	"context"
	"crypto/sha256"
	"fmt"
)

const squareHeader = "x-square-hmacsha256-signature"

// Square verifies and makes deliveries of Square
// (https://developer.squareup.com/docs/webhooks/step3validate): the header
// x-square-hmacsha256-signature, base64 of the HMAC-SHA256 of the notification
// URL and the raw body, one right after the other.
//
// It is safe for concurrent use.
type Square struct {
	keys [][]byte
	url  []byte
}

// NewSquare returns a verifier by [Config.Secrets], the signature keys of the
// subscription as text, and [Config.PublicURL], the notification URL byte for
// byte as it is registered at Square: scheme, slash at the end and query count.
// The URL of the request is not used, because a proxy may have changed it. No
// key, an empty one or no URL wraps ErrConfig.
func NewSquare(c Config) (*Square, error) {
	keys, err := textKeys(c)
	if err != nil {
		return nil, err
	}
	if c.PublicURL == "" {
		return nil, fmt.Errorf("%w: no public_url, which Square signs", ErrConfig)
	}
	return &Square{keys: keys, url: []byte(c.PublicURL)}, nil
}

// Verify implements [Verifier]. No header is ErrSignatureMissing, one that no key
// made with this URL ErrSignatureInvalid. The older header x-square-signature
// (SHA-1) is not looked at. There is no time in what is signed.
func (s *Square) Verify(_ context.Context, d Delivery) ([]Event, error) {
	values := headerValues(d.Header, squareHeader)
	if len(values) == 0 {
		return nil, fmt.Errorf("%w: header %s", ErrSignatureMissing, squareHeader)
	}
	index := matchMAC(sha256.New, s.keys, decodeAll(values, base64Strict.DecodeString), s.url, d.Body)
	if index < 0 {
		return nil, fmt.Errorf("%w: none of %d secrets matches with this public_url", ErrSignatureInvalid, len(s.keys))
	}
	event, err := parseSquare(d.Body)
	if err != nil {
		return nil, err
	}
	event.SecretIndex = index
	return []Event{event}, nil
}

// Sign implements [Signer]: it sets x-square-hmacsha256-signature.
func (s *Square) Sign(d *Delivery) error {
	setHeader(d, squareHeader, base64Strict.EncodeToString(mac(sha256.New, s.keys[0], s.url, d.Body)))
	return nil
}

// Ack implements [Verifier]: any 2xx, the body ignored.
func (s *Square) Ack(Delivery, []Event) Ack { return OK() }

// About implements [Describer].
func (*Square) About() About {
	return About{
		Name:         "Square",
		Header:       "x-square-hmacsha256-signature (base64 HMAC-SHA256 over the notification URL and the body)",
		EventID:      "native: event_id",
		Ack:          "any 2xx, quickly (older documentation: within 10 s)",
		RetryHorizon: "up to 24 hours (older documentation: 72); an endpoint that keeps failing is disabled",
		Quirks: []string{
			"The notification URL is signed: a slash or http in place of https breaks every signature.",
			"The status of the object decides, not the event's name: payment.created may be approved or completed.",
			"data.id may differ from the payment's id: the object's counts.",
			"A payment has no metadata: reference_id, of at most 40 characters, carries the payment attempt's id.",
			"payment.* tells of every sale of the seller, those at a till too: what nobody here began is unmatched, and opens unmatched_event an hour later.",
		},
		Setup: [5]string{
			"Developer Console, the application, Webhooks, Subscriptions: add one with the address of the account's endpoint.",
			"Put exactly that address into public_url.",
			"Choose payment.created, payment.updated, refund.created, refund.updated and dispute.*.",
			"Put the signature key of the subscription into webhook_secrets.",
			"Send a test event from there: it is recorded as unmatched, and the unmatched_event that it opens an hour later is to be resolved.",
		},
	}
}
