package tbank

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// Verifier is safe for concurrent use.
type Verifier struct {
	passwords []string
	terminal  string
	currency  string
}

// New returns a verifier by [webhooks.Config.Secrets], the terminal's passwords. None, or an empty one, wraps
// ErrConfig. [webhooks.Config.Params]: "terminal_key", when set, must be the one of the notification, since two
// terminals could have one password; "currency" is the terminal's, RUB if not set, because notifications name none.
func New(c webhooks.Config) (*Verifier, error) {
	if _, err := read.Keys(c); err != nil {
		return nil, err
	}
	return &Verifier{
		passwords: slices.Clone(c.Secrets), terminal: c.Params["terminal_key"],
		currency: cmp.Or(c.Params["currency"], "RUB"),
	}, nil
}

// Verify implements [webhooks.Verifier]. Numbers are taken as they are written: an id of twenty digits does not survive
// a floating-point number. A member Password in the body never counts. A body that is not a JSON object in UTF-8 is
// ErrSignatureMalformed, one without Token ErrSignatureMissing.
//
// The values are joined without anything between them, so that the scheme itself takes "1"+"23" for "12"+"3": an amount
// should be compared with the order's.
func (t *Verifier) Verify(_ context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	object := read.Members(d.Body)
	if object == nil || !utf8.Valid(d.Body) {
		return nil, fmt.Errorf("%w: not a JSON object", webhooks.ErrSignatureMalformed)
	}
	fields := read.Scalars(object)
	if fields["Token"] == "" {
		return nil, fmt.Errorf("%w: Token", webhooks.ErrSignatureMissing)
	}
	got, err := hex.DecodeString(fields["Token"])
	if err != nil {
		return nil, fmt.Errorf("%w: Token is not hexadecimal", webhooks.ErrSignatureInvalid)
	}
	index := slices.IndexFunc(t.passwords, func(password string) bool {
		return hmac.Equal(got, tokenOf(fields, password))
	})
	if index < 0 {
		return nil, fmt.Errorf("%w: none of %d passwords matches", webhooks.ErrSignatureInvalid, len(t.passwords))
	}
	if t.terminal != "" && fields["TerminalKey"] != t.terminal {
		return nil, fmt.Errorf("%w: TerminalKey is of another terminal", webhooks.ErrSignatureInvalid)
	}
	return read.By(index, t.Read(d)), nil
}

// Read implements [webhooks.Reader].
func (t *Verifier) Read(d webhooks.Delivery) []webhooks.Event {
	event, err := parse(d, read.Scalars(read.Members(d.Body)), t.currency)
	return read.One(d.Body, event, err)
}

// tokenOf returns the sum that proves the fields.
func tokenOf(fields map[string]string, password string) []byte {
	signed := maps.Clone(fields)
	delete(signed, "Token")
	signed["Password"] = password
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(signed)) {
		text.WriteString(signed[name])
	}
	sum := sha256.Sum256([]byte(text.String()))
	return sum[:]
}

// Sign implements [webhooks.Signer]: it writes the body anew, with its Token. A body that is not a JSON object in UTF-8
// is ErrPayload.
func (t *Verifier) Sign(d *webhooks.Delivery) error {
	object := read.Members(d.Body)
	if object == nil || !utf8.Valid(d.Body) {
		return fmt.Errorf("%w: not a JSON object", webhooks.ErrPayload)
	}
	token := tokenOf(read.Scalars(object), t.passwords[0])
	d.Body = read.WithMember(object, "Token", read.Encode(hex.EncodeToString(token)))
	return nil
}

// Ack implements [webhooks.Verifier]: 200 and exactly "OK".
func (t *Verifier) Ack(webhooks.Delivery, []webhooks.Event) webhooks.Ack {
	return webhooks.Ack{Status: http.StatusOK, ContentType: "text/plain", Body: []byte("OK")}
}
