package webhooks

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"
)

// headerValues returns the values of a header that are not empty, whatever the
// case of its name: a Delivery may have been made by hand or kept as text, and
// then its names are not in the canonical form that http.Header expects.
func headerValues(h http.Header, name string) []string {
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

// headerValue returns the one value of a header that must be there. None, and
// several that differ, wrap ErrSignatureMalformed: with two ids or times it is
// open which of them was signed.
func headerValue(h http.Header, name string) (string, error) {
	values := headerValues(h, name)
	if len(values) == 0 {
		return "", fmt.Errorf("%w: header %s missing", ErrSignatureMalformed, name)
	}
	for _, value := range values[1:] {
		if value != values[0] {
			return "", fmt.Errorf("%w: header %s twice", ErrSignatureMalformed, name)
		}
	}
	return values[0], nil
}

// setHeader makes value the only one of a header, whatever the case in which
// the delivery had it.
func setHeader(d *Delivery, name, value string) {
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

// checkAuthorization requires the header Authorization to be there once and to say
// want, byte for byte; where nothing is wanted it may say anything.
func checkAuthorization(h http.Header, want string) error {
	if want == "" {
		return nil
	}
	values := headerValues(h, "Authorization")
	if len(values) == 0 {
		return fmt.Errorf("%w: header Authorization", ErrSignatureMissing)
	}
	if len(values) > 1 || !sameText(values[0], want) {
		return fmt.Errorf("%w: header Authorization is another", ErrSignatureInvalid)
	}
	return nil
}

// sameText compares secrets in a time that tells neither where they differ nor
// how long they are.
func sameText(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
