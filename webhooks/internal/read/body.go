package read

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/paylatch/paylatch/webhooks"
)

// BodyMAC is the scheme of many providers: a header with the HMAC-SHA256 of the raw body in hex, and no time. A
// captured delivery stays valid for ever: only the event's id keeps it from counting twice.
type BodyMAC struct {
	Header string
	// Prefix stands before the hex; a value without it is accepted as well.
	Prefix string
	Keys   [][]byte
}

// Match returns the index of the key that made one of the header's values. A header that comes several times, as some
// providers send it while a secret is rotated, holds if one of its values does. Hex may be in either case.
func (m BodyMAC) Match(d webhooks.Delivery) (int, error) {
	values := HeaderValues(d.Header, m.Header)
	if len(values) == 0 {
		return 0, fmt.Errorf("%w: header %s", webhooks.ErrSignatureMissing, m.Header)
	}
	for i, value := range values {
		values[i] = strings.TrimPrefix(value, m.Prefix)
	}
	index := Match(sha256.New, m.Keys, DecodeAll(values, hex.DecodeString), d.Body)
	if index < 0 {
		return 0, fmt.Errorf("%w: none of %d secrets matches", webhooks.ErrSignatureInvalid, len(m.Keys))
	}
	return index, nil
}

// Sign sets the header, by the first key.
func (m BodyMAC) Sign(d *webhooks.Delivery) error {
	if len(m.Keys) == 0 {
		return fmt.Errorf("%w: no secret", webhooks.ErrConfig)
	}
	SetHeader(d, m.Header, m.Prefix+hex.EncodeToString(MAC(sha256.New, m.Keys[0], d.Body)))
	return nil
}
