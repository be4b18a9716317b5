package webhooks

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// bodyMAC is the scheme of many providers: a header with the HMAC-SHA256 of the
// raw body in hex, and nothing that tells when it was made. A captured delivery
// stays good for ever: what keeps it from counting twice is the event's id.
type bodyMAC struct {
	header string
	// prefix stands before the hex; a value without it is accepted as well.
	prefix string
	keys   [][]byte
}

// match returns the index of the key that made one of the header's values. A
// header that comes several times, as some providers send it while a secret is
// rotated, holds if one of its values does. Hex may be in either case.
func (m bodyMAC) match(d Delivery) (int, error) {
	values := headerValues(d.Header, m.header)
	if len(values) == 0 {
		return 0, fmt.Errorf("%w: header %s", ErrSignatureMissing, m.header)
	}
	for i, value := range values {
		values[i] = strings.TrimPrefix(value, m.prefix)
	}
	index := matchMAC(sha256.New, m.keys, decodeAll(values, hex.DecodeString), d.Body)
	if index < 0 {
		return 0, fmt.Errorf("%w: none of %d secrets matches", ErrSignatureInvalid, len(m.keys))
	}
	return index, nil
}

// sign sets the header, by the first key.
func (m bodyMAC) sign(d *Delivery) error {
	if len(m.keys) == 0 {
		return fmt.Errorf("%w: no secret", ErrConfig)
	}
	setHeader(d, m.header, m.prefix+hex.EncodeToString(mac(sha256.New, m.keys[0], d.Body)))
	return nil
}
