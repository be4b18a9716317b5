package read

import (
	"cmp"
	"crypto/hmac"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"time"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/plain"
)

// This file and its neighbours have the schemes of signatures that several providers share, and the parts that all are made of.

// Base64 refuses unused bits that are not zero, so that no signature has two spellings.
var Base64 = base64.StdEncoding.Strict()

// Keys returns the configured secrets as keys, byte for byte.
func Keys(c webhooks.Config) ([][]byte, error) {
	return DecodedKeys(c, func(secret string) ([]byte, error) { return []byte(secret), nil })
}

// DecodedKeys returns the configured secrets as keys, each read by decode. No secret at all, one that can't be decoded
// and an empty one wrap ErrConfig; the text has its place, never its value.
func DecodedKeys(c webhooks.Config, decode func(string) ([]byte, error)) ([][]byte, error) {
	if len(c.Secrets) == 0 {
		return nil, fmt.Errorf("%w: no secret", webhooks.ErrConfig)
	}
	keys := make([][]byte, 0, len(c.Secrets))
	for i, secret := range c.Secrets {
		key, err := decode(secret)
		if err != nil {
			return nil, fmt.Errorf("%w: secret %d: %w", webhooks.ErrConfig, i, err)
		}
		if len(key) == 0 {
			return nil, fmt.Errorf("%w: secret %d is empty", webhooks.ErrConfig, i)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// MAC returns the HMAC of the parts taken as one text.
func MAC(algorithm func() hash.Hash, key []byte, parts ...[]byte) []byte {
	m := hmac.New(algorithm, key)
	for _, part := range parts {
		m.Write(part)
	}
	return m.Sum(nil)
}

// Match returns the index of the first key by which one of the sums is the HMAC of the parts, or -1. Sums are compared
// as bytes and in constant time.
func Match(algorithm func() hash.Hash, keys, sums [][]byte, parts ...[]byte) int {
	if len(sums) == 0 {
		return -1
	}
	return slices.IndexFunc(keys, func(key []byte) bool {
		want := MAC(algorithm, key, parts...)
		return slices.ContainsFunc(sums, func(sum []byte) bool { return hmac.Equal(want, sum) })
	})
}

// DecodeAll decodes the texts and skips texts that decode refuses: a list of signatures may contain values of another form
// beside a good signature.
func DecodeAll(texts []string, decode func(string) ([]byte, error)) [][]byte {
	decoded := make([][]byte, 0, len(texts))
	for _, text := range texts {
		if b, err := decode(text); err == nil {
			decoded = append(decoded, b)
		}
	}
	return decoded
}

// Window limits how far a signature's time may lie from the receiver's. A negative limit is none.
type Window struct{ Past, Future time.Duration }

// Tolerance returns the limit to use where the documented one may be replaced.
func Tolerance(c webhooks.Config, documented time.Duration) time.Duration {
	return cmp.Or(c.Tolerance, documented)
}

// WindowOf returns the limits of a scheme that documents how old a signature may be and leaves open how far ahead its
// time may lie. The configured tolerance is of the age; a negative one switches both limits off.
func WindowOf(c webhooks.Config, past, future time.Duration) Window {
	if c.Tolerance < 0 {
		return Window{Past: -1, Future: -1}
	}
	return Window{Past: Tolerance(c, past), Future: future}
}

// Check returns an error that wraps ErrTooOld or ErrTooNew when signed lies outside the window around now. The limits
// themselves are inside.
func (w Window) Check(signed, now time.Time) error {
	age := now.Sub(signed)
	if w.Past >= 0 && age > w.Past {
		return fmt.Errorf("%w: signed %s ago, limit %s", webhooks.ErrTooOld, age, w.Past)
	}
	if w.Future >= 0 && -age > w.Future {
		return fmt.Errorf("%w: signed %s from now, limit %s", webhooks.ErrTooNew, -age, w.Future)
	}
	return nil
}

// maxUnixDigits keeps timestamps far from the overflow of time.Time.
const maxUnixDigits = 11

// ParseUnix reads seconds since 1970 in plain digits. It is stricter than strconv, because the text itself is signed:
// two different texts must not give the same time.
func ParseUnix(text string) (time.Time, error) {
	if !plain.Digits(text) || len(text) > maxUnixDigits {
		return time.Time{}, fmt.Errorf("%w: timestamp is not in seconds", webhooks.ErrSignatureMalformed)
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: timestamp: %w", webhooks.ErrSignatureMalformed, err)
	}
	return time.Unix(seconds, 0), nil
}

var errNoTime = errors.New("sign: the delivery has no time (ReceivedAt)")

// FormatUnix is the inverse of ParseUnix. A time before 1970, such as the zero one of a delivery that was never dated,
// is an error.
func FormatUnix(t time.Time) (string, error) {
	if t.Unix() < 0 {
		return "", errNoTime
	}
	return strconv.FormatInt(t.Unix(), 10), nil
}
