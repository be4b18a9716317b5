package standard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// maxAge is the limit that the libraries of Standard Webhooks use.
const maxAge = 5 * time.Minute

// maxSignatures bounds the checks that a stranger can cause: a v1a signature costs far more to verify than to send.
const maxSignatures = 16

// Verifier is safe for concurrent use.
type Verifier struct {
	keys   []secretKey
	window read.Window
}

// New returns a verifier by [webhooks.Config.Secrets]: "whsec_" and base64 (the prefix may be left out) for HMAC-SHA256
// (v1); "whpk_" and a public key for ed25519 (v1a); "whsk_" and a private key, which can sign as well. A key serves its
// own version only: a public key is never a secret. [webhooks.Config.Tolerance] replaces the 5 minutes that a timestamp
// may lie off in either direction. No secret, or one of another form, wraps ErrConfig.
func New(c webhooks.Config) (*Verifier, error) {
	if len(c.Secrets) == 0 {
		return nil, fmt.Errorf("%w: no secret", webhooks.ErrConfig)
	}
	keys := make([]secretKey, len(c.Secrets))
	for i, secret := range c.Secrets {
		key, err := parseKey(secret)
		if err != nil {
			return nil, fmt.Errorf("%w: secret %d: %w", webhooks.ErrConfig, i, err)
		}
		keys[i] = key
	}
	limit := read.Tolerance(c, maxAge)
	return &Verifier{keys: keys, window: read.Window{Past: limit, Future: limit}}, nil
}

// Verify implements [webhooks.Verifier]. Signatures of an unknown version are skipped; one good signature by one of the
// secrets is enough. A header without any of v1 or v1a is ErrSignatureMissing; one with more than 16 of them, a missing
// id or time, and two of either that differ are ErrSignatureMalformed.
//
// A body that is an event of the sandbox's shape ("type", "created" and "data" with charge_id, refund_id, reference,
// amount, currency, failure_code and, optionally, refund_reference, container_id, payee and test) gets its kind by its type:
// charge.pending,
// charge.authorized, charge.succeeded, charge.failed, charge.canceled, refund.pending, refund.succeeded, refund.failed,
// container.expired, container.canceled, or dispute.warning, dispute.opened, dispute.updated, dispute.won, dispute.lost, dispute.accepted. The data of a
// dispute have dispute_id, dispute_status, reason and due_by, and entry_id where its money moved: the name of that
// chargeback, or of its reversal. Amounts are in ISO minor units. Any other JSON is KindIgnored, with its type if it has one. A
// body is unreadable if it is not JSON, or if it has one of these types and data of another form. A body with an amount
// but no currency, or a currency but no amount, is unreadable too, unless it reports a failure. The event's id is the header webhook-id, which stays the
// same when the delivery is repeated.
func (s *Verifier) Verify(_ context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	headers, err := readHeaders(d.Header)
	if err != nil {
		return nil, err
	}
	index := slices.IndexFunc(s.keys, func(k secretKey) bool { return k.made(headers, d.Body) })
	if index < 0 {
		return nil, fmt.Errorf("%w: none of %d secrets matches", webhooks.ErrSignatureInvalid, len(s.keys))
	}
	if err := s.window.Check(headers.signedAt, d.ReceivedAt); err != nil {
		return nil, err
	}
	return read.By(index, identified(headers.id, d.Body)), nil
}

// Read implements [webhooks.Reader]. Without a header of an id, as the sandbox lists its events, that is the member "id".
func (s *Verifier) Read(d webhooks.Delivery) []webhooks.Event {
	id, err := read.HeaderValue(d.Header, "webhook-id")
	if err != nil {
		id, _ = read.HeaderValue(d.Header, "svix-id")
	}
	if id == "" {
		id = read.Text(read.Members(d.Body)["id"])
	}
	return identified(id, d.Body)
}

// identified is the event of a delivery with an id.
func identified(id string, body []byte) []webhooks.Event {
	event, err := parse(body)
	event.ID, event.IDSource = id, webhooks.Native
	return read.One(body, event, err)
}

// signedHeaders holds the signed headers of a delivery.
type signedHeaders struct {
	id, timestamp string
	signedAt      time.Time
	// v1 and v1a are the decoded signatures of each version.
	v1, v1a [][]byte
}

// readHeaders takes the headers of one prefix, never of both: an id beside another's signature would be an unsigned
// one.
func readHeaders(h http.Header) (signedHeaders, error) {
	prefix := "webhook-"
	signatures := read.HeaderValues(h, prefix+"signature")
	if len(signatures) == 0 {
		prefix = "svix-"
		signatures = read.HeaderValues(h, prefix+"signature")
	}
	if len(signatures) == 0 {
		return signedHeaders{}, fmt.Errorf("%w: header webhook-signature", webhooks.ErrSignatureMissing)
	}
	id, errID := read.HeaderValue(h, prefix+"id")
	timestamp, errTime := read.HeaderValue(h, prefix+"timestamp")
	if err := errors.Join(errID, errTime); err != nil {
		return signedHeaders{}, err
	}
	signedAt, err := read.ParseUnix(timestamp)
	if err != nil {
		return signedHeaders{}, err
	}
	v1, v1a := splitSignatures(signatures)
	switch n := len(v1) + len(v1a); {
	case n == 0:
		return signedHeaders{}, fmt.Errorf("%w: neither v1 nor v1a", webhooks.ErrSignatureMissing)
	case n > maxSignatures:
		return signedHeaders{}, fmt.Errorf("%w: %d signatures", webhooks.ErrSignatureMalformed, n)
	}
	return signedHeaders{
		id, timestamp, signedAt, read.DecodeAll(v1, read.Base64.DecodeString), read.DecodeAll(v1a, read.Base64.DecodeString),
	}, nil
}

// splitSignatures sorts lists of "version,base64" by version.
func splitSignatures(values []string) (v1, v1a []string) {
	for _, list := range values {
		for token := range strings.FieldsSeq(list) {
			switch version, signature, _ := strings.Cut(token, ","); version {
			case "v1":
				v1 = append(v1, signature)
			case "v1a":
				v1a = append(v1a, signature)
			}
		}
	}
	return v1, v1a
}

// prefix returns the signed text before the body.
func (h signedHeaders) prefix() []byte { return []byte(h.id + "." + h.timestamp + ".") }

// Sign implements [webhooks.Signer]. The header webhook-id must be set, and distinguishes the events; Sign sets
// webhook-timestamp and webhook-signature: v1 by a whsec_ secret, v1a by a whsk_ key. A whpk_ key can't sign:
// ErrConfig.
func (s *Verifier) Sign(d *webhooks.Delivery) error {
	id, err := read.HeaderValue(d.Header, "webhook-id")
	if err != nil {
		return err
	}
	timestamp, err := read.FormatUnix(d.ReceivedAt)
	if err != nil {
		return err
	}
	headers := signedHeaders{id: id, timestamp: timestamp}
	signature, err := s.keys[0].sign(headers.prefix(), d.Body)
	if err != nil {
		return err
	}
	read.SetHeader(d, "webhook-timestamp", timestamp)
	read.SetHeader(d, "webhook-signature", signature)
	return nil
}

// Ack implements [webhooks.Verifier]: any 2xx, the body ignored.
func (s *Verifier) Ack(webhooks.Delivery, []webhooks.Event) webhooks.Ack { return webhooks.OK() }
