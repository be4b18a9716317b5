// Package plain reports whether a text can be read in one way only.
package plain

import "strings"

// Digits reports whether s is one or more ASCII digits.
func Digits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

// Decimal reports whether text is plain digits with at most one point.
func Decimal(text string) bool {
	whole, fraction, pointed := strings.Cut(text, ".")
	return Digits(whole) && (!pointed || Digits(fraction))
}

const maxID = 64

// ID reports whether an unsigned id may become part of an address as it is: 1 to 64 ASCII letters, digits, - and _.
func ID(id string) bool {
	for _, c := range []byte(id) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' && c != '_' {
			return false
		}
	}
	return id != "" && len(id) <= maxID
}
