package webhooks

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
)

// base64Strict refuses unused bits that are not zero, so that no signature has
// two spellings.
var base64Strict = base64.StdEncoding.Strict()

// textKeys returns the configured secrets as keys, byte for byte.
func textKeys(c Config) ([][]byte, error) {
	return decodedKeys(c, func(secret string) ([]byte, error) { return []byte(secret), nil })
}

// decodedKeys returns the configured secrets as keys, each read by decode. No
// secret at all, one that can't be decoded and an empty one wrap ErrConfig; the
// text tells which one by its place, never what it says.
func decodedKeys(c Config, decode func(string) ([]byte, error)) ([][]byte, error) {
	if len(c.Secrets) == 0 {
		return nil, fmt.Errorf("%w: no secret", ErrConfig)
	}
	keys := make([][]byte, 0, len(c.Secrets))
	for i, secret := range c.Secrets {
		key, err := decode(secret)
		if err != nil {
			return nil, fmt.Errorf("%w: secret %d: %w", ErrConfig, i, err)
		}
		if len(key) == 0 {
			return nil, fmt.Errorf("%w: secret %d is empty", ErrConfig, i)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// mac returns the HMAC of the parts taken as one text.
func mac(algorithm func() hash.Hash, key []byte, parts ...[]byte) []byte {
	m := hmac.New(algorithm, key)
	for _, part := range parts {
		m.Write(part)
	}
	return m.Sum(nil)
}

// matchMAC returns the index of the first key by which one of the sums is the
// HMAC of the parts, or -1. Sums are compared as bytes and in constant time.
func matchMAC(algorithm func() hash.Hash, keys, sums [][]byte, parts ...[]byte) int {
	if len(sums) == 0 {
		return -1
	}
	return slices.IndexFunc(keys, func(key []byte) bool {
		want := mac(algorithm, key, parts...)
		return slices.ContainsFunc(sums, func(sum []byte) bool { return hmac.Equal(want, sum) })
	})
}

// decodeAll returns what decode makes of the texts, without those that it
// refuses: a list of signatures may hold some of another form beside a good one.
func decodeAll(texts []string, decode func(string) ([]byte, error)) [][]byte {
	decoded := make([][]byte, 0, len(texts))
	for _, text := range texts {
		if b, err := decode(text); err == nil {
			decoded = append(decoded, b)
		}
	}
	return decoded
}

// window limits how far a signature's time may lie from the receiver's. A
// negative limit is none.
type window struct{ past, future time.Duration }

// tolerance returns the limit to use where the documented one may be replaced.
func tolerance(c Config, documented time.Duration) time.Duration {
	return cmp.Or(c.Tolerance, documented)
}

// windowOf returns the limits of a scheme that documents how old a signature may
// be and leaves open how far ahead its time may lie. The configured tolerance is of
// the age; a negative one switches both limits off.
func windowOf(c Config, past, future time.Duration) window {
	if c.Tolerance < 0 {
		return window{past: -1, future: -1}
	}
	return window{past: tolerance(c, past), future: future}
}

// check returns an error that wraps ErrTooOld or ErrTooNew when signed lies
// outside the window around now. The limits themselves are inside.
func (w window) check(signed, now time.Time) error {
	age := now.Sub(signed)
	if w.past >= 0 && age > w.past {
		return fmt.Errorf("%w: signed %s ago, limit %s", ErrTooOld, age, w.past)
	}
	if w.future >= 0 && -age > w.future {
		return fmt.Errorf("%w: signed %s from now, limit %s", ErrTooNew, -age, w.future)
	}
	return nil
}

// maxUnixDigits keeps timestamps far from the overflow of time.Time.
const maxUnixDigits = 11

// parseUnix reads seconds since 1970 in plain digits. It is stricter than
// strconv, because the text itself is signed: what differs must not be equal.
func parseUnix(text string) (time.Time, error) {
	if !isDigits(text) || len(text) > maxUnixDigits {
		return time.Time{}, fmt.Errorf("%w: timestamp is not in seconds", ErrSignatureMalformed)
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: timestamp: %w", ErrSignatureMalformed, err)
	}
	return time.Unix(seconds, 0), nil
}

var errNoTime = errors.New("sign: the delivery has no time (ReceivedAt)")

// formatUnix is the inverse of parseUnix. A time before 1970, such as the zero
// one of a delivery that was never dated, is an error.
func formatUnix(t time.Time) (string, error) {
	if t.Unix() < 0 {
		return "", errNoTime
	}
	return strconv.FormatInt(t.Unix(), 10), nil
}
