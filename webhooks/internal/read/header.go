package read

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"

	"github.com/paylatch/paylatch/webhooks"
)

// HeaderValues returns the values of a header that are not empty. The case of the header's name does not matter: a Delivery
// may have been made by hand or kept as text, and then its names are not in the canonical form that http.Header expects.
func HeaderValues(h http.Header, name string) []string {
	var values []string
	for key, list := range h {
		if len(key) != len(name) || !strings.EqualFold(key, name) {
			continue
		}
		for _, value := range list {
			if value != "" {
				values = append(values, value)
			}
		}
	}
	return values
}

// HeaderValue returns the one value of a header that must be there. None, and several that differ, wrap
// ErrSignatureMalformed: with two ids or times it is open which of them was signed.
func HeaderValue(h http.Header, name string) (string, error) {
	values := HeaderValues(h, name)
	if len(values) == 0 {
		return "", fmt.Errorf("%w: header %s missing", webhooks.ErrSignatureMalformed, name)
	}
	for _, value := range values[1:] {
		if value != values[0] {
			return "", fmt.Errorf("%w: header %s twice", webhooks.ErrSignatureMalformed, name)
		}
	}
	return values[0], nil
}

// SetHeader makes value the only value of a header. The case of the header's name in the delivery does not matter.
func SetHeader(d *webhooks.Delivery, name, value string) {
	if d.Header == nil {
		d.Header = http.Header{}
	}
	for key := range d.Header {
		if strings.EqualFold(key, name) {
			delete(d.Header, key)
		}
	}
	d.Header.Set(name, value)
}

// CheckAuthorization requires the header Authorization to be there once and to be want, byte for byte; an empty want
// takes anything.
func CheckAuthorization(h http.Header, want string) error {
	if want == "" {
		return nil
	}
	values := HeaderValues(h, "Authorization")
	if len(values) == 0 {
		return fmt.Errorf("%w: header Authorization", webhooks.ErrSignatureMissing)
	}
	if len(values) > 1 || !SameText(values[0], want) {
		return fmt.Errorf("%w: header Authorization has another value", webhooks.ErrSignatureInvalid)
	}
	return nil
}

// SameText compares secrets in a time that depends neither on where they differ nor on how long they are.
func SameText(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
