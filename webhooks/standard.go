package webhooks

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// standardTolerance is the limit that the libraries of Standard Webhooks use.
const standardTolerance = 5 * time.Minute

// maxSignatures bounds what a stranger can make us check: a v1a signature costs
// far more to verify than to send.
const maxSignatures = 16

// Standard verifies and makes deliveries of Standard Webhooks
// (https://github.com/standard-webhooks/standard-webhooks, spec 1.0.0), by the
// headers webhook-* or, as Svix sends them, svix-*. It reads the event shape of
// paylatch's sandbox; see Verify.
//
// It is safe for concurrent use.
type Standard struct {
	keys   []standardKey
	window window
}

// NewStandard returns a verifier by [Config.Secrets]: "whsec_" and base64 (the
// prefix may be left out) for HMAC-SHA256 (v1); "whpk_" and a public key for
// ed25519 (v1a); "whsk_" and a private key, which can sign as well. A key serves
// its own version only: a public key, which anybody may know, is never a secret.
// [Config.Tolerance] replaces the 5 minutes that a timestamp may lie off in
// either direction. No secret, or one of another form, wraps ErrConfig.
func NewStandard(c Config) (*Standard, error) {
	if len(c.Secrets) == 0 {
		return nil, fmt.Errorf("%w: no secret", ErrConfig)
	}
	keys := make([]standardKey, len(c.Secrets))
	for i, secret := range c.Secrets {
		key, err := parseStandardKey(secret)
		if err != nil {
			return nil, fmt.Errorf("%w: secret %d: %w", ErrConfig, i, err)
		}
		keys[i] = key
	}
	limit := tolerance(c, standardTolerance)
	return &Standard{keys: keys, window: window{past: limit, future: limit}}, nil
}

// Verify implements [Verifier]. Signatures of an unknown version are skipped;
// one good signature by one of the secrets is enough. A header without any of v1
// or v1a is ErrSignatureMissing; one with more than 16 of them, a missing id or
// time, and two of either that differ are ErrSignatureMalformed.
//
// A body that is an event of the sandbox's shape ("type", "created" and "data"
// with charge_id, refund_id, reference, amount, currency, failure_code and,
// optionally, refund_reference) becomes what its type says: charge.pending,
// charge.authorized, charge.succeeded, charge.failed, charge.canceled, refund.pending,
// refund.succeeded or refund.failed. Amounts are in ISO minor units. Any other JSON is
// KindIgnored, with its type if it has one. What is not JSON, or carries a known
// type and data of another form, is ErrPayload, as is an amount without its currency
// or the reverse, but for a failure. The event's id is the header webhook-id, which
// stays the same when the delivery is repeated.
func (s *Standard) Verify(_ context.Context, d Delivery) ([]Event, error) {
	headers, err := readStandardHeaders(d.Header)
	if err != nil {
		return nil, err
	}
	index := slices.IndexFunc(s.keys, func(k standardKey) bool { return k.made(headers, d.Body) })
	if index < 0 {
		return nil, fmt.Errorf("%w: none of %d secrets matches", ErrSignatureInvalid, len(s.keys))
	}
	if err := s.window.check(headers.signedAt, d.ReceivedAt); err != nil {
		return nil, err
	}
	event, err := parseStandard(d.Body)
	if err != nil {
		return nil, err
	}
	event.ID, event.IDSource, event.SecretIndex = headers.id, Native, index
	return []Event{event}, nil
}

// standardHeaders is what the headers of a delivery say.
type standardHeaders struct {
	id, timestamp string
	signedAt      time.Time
	// v1 and v1a are the decoded signatures of each version.
	v1, v1a [][]byte
}

// readStandardHeaders takes the headers of one prefix, never of both: an id
// beside another's signature would be one that nobody signed.
func readStandardHeaders(h http.Header) (standardHeaders, error) {
	prefix := "webhook-"
	signatures := headerValues(h, prefix+"signature")
	if len(signatures) == 0 {
		prefix = "svix-"
		signatures = headerValues(h, prefix+"signature")
	}
	if len(signatures) == 0 {
		return standardHeaders{}, fmt.Errorf("%w: header webhook-signature", ErrSignatureMissing)
	}
	id, errID := headerValue(h, prefix+"id")
	timestamp, errTime := headerValue(h, prefix+"timestamp")
	if err := errors.Join(errID, errTime); err != nil {
		return standardHeaders{}, err
	}
	signedAt, err := parseUnix(timestamp)
	if err != nil {
		return standardHeaders{}, err
	}
	v1, v1a := splitStandardSignatures(signatures)
	switch n := len(v1) + len(v1a); {
	case n == 0:
		return standardHeaders{}, fmt.Errorf("%w: neither v1 nor v1a", ErrSignatureMissing)
	case n > maxSignatures:
		return standardHeaders{}, fmt.Errorf("%w: %d signatures", ErrSignatureMalformed, n)
	}
	return standardHeaders{
		id, timestamp, signedAt, decodeAll(v1, base64Strict.DecodeString), decodeAll(v1a, base64Strict.DecodeString),
	}, nil
}

// splitStandardSignatures sorts lists of "version,base64" by version.
func splitStandardSignatures(values []string) (v1, v1a []string) {
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

// prefix is what is signed before the body.
func (h standardHeaders) prefix() []byte { return []byte(h.id + "." + h.timestamp + ".") }

// Sign implements [Signer]. The header webhook-id must be set, and is what tells
// one event from another; Sign sets webhook-timestamp and webhook-signature: v1
// by a whsec_ secret, v1a by a whsk_ key. A whpk_ key can't sign: ErrConfig.
func (s *Standard) Sign(d *Delivery) error {
	id, err := headerValue(d.Header, "webhook-id")
	if err != nil {
		return err
	}
	timestamp, err := formatUnix(d.ReceivedAt)
	if err != nil {
		return err
	}
	headers := standardHeaders{id: id, timestamp: timestamp}
	signature, err := s.keys[0].sign(headers.prefix(), d.Body)
	if err != nil {
		return err
	}
	setHeader(d, "webhook-timestamp", timestamp)
	setHeader(d, "webhook-signature", signature)
	return nil
}

// Ack implements [Verifier]: any 2xx, the body ignored.
func (s *Standard) Ack(Delivery, []Event) Ack { return OK() }

// About implements [Describer].
func (*Standard) About() About {
	return About{
		Name:         "Standard Webhooks",
		Header:       "webhook-signature or svix-signature (v1, a base64 HMAC-SHA256, or v1a, a base64 ed25519 signature, over the id, the time and the body; several at once)",
		EventID:      "native: the header webhook-id",
		Ack:          "any 2xx",
		RetryHorizon: "the sender's; Svix: 7 times over 27 hours",
		Quirks: []string{
			"The signature covers the id and the time as well as the body, with 5 minutes of tolerance in either direction.",
			"A key serves one version only: whsec_ for v1, whpk_ and whsk_ for v1a.",
			"The headers of one prefix are used, webhook-* before svix-*, never a mix.",
		},
		Setup: [5]string{
			"Give the sender the address of the account's endpoint.",
			"Copy the secret that the sender shows: whsec_… (shared) or whpk_… (public key).",
			"Put it into webhook_secrets of the account; to rotate, put the new one beside the old one.",
			"Let the sender send the events of the sandbox's shape (go doc ./webhooks Standard.Verify); any other JSON is kept as ignored.",
			"Send a test event and search for its webhook-id: it is there, whatever its verdict.",
		},
	}
}
