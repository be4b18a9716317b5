// Package cardnumber finds card numbers in clear: 13 to 19 digits with a check digit that
// is right (ISO/IEC 7812-1, Luhn's check), in one piece or in the groups that are
// embossed on cards, with blanks or dashes between them.
//
// One number of that length in ten passes the check. What can't be a card number by
// where it stands is left alone: digits within a hexadecimal word, as ids are made
// of, and groups of other lengths, as in a UUID, a date or a phone number.
package cardnumber

import (
	"strings"
	"unicode/utf8"
)

const (
	shortest = 13
	longest  = 19
	// hexID is how long a hexadecimal word is that is taken for an id; hexLook, how far
	// to either side it is looked at.
	hexID   = 16
	hexLook = 64
)

// In reports whether a text holds a card number.
func In(text string) bool { return find(text, anyNumber) >= 0 }

// InID is In for an id that a provider has given. Many are of digits only, one in ten
// of which would pass for a card number; those that no card network's numbers begin
// like are not taken for one.
func InID(text string) bool { return find(text, ofNetwork) >= 0 }

func anyNumber(string) bool { return true }

// ofNetwork reports whether a number begins as those of the networks do: 2 Mir and
// Mastercard, 3 American Express, Diners Club and JCB, 4 Visa, 5 Mastercard, 6
// Discover, Maestro, RuPay and UnionPay.
func ofNetwork(digits string) bool { return digits[0] >= '2' && digits[0] <= '6' }

// find returns where the first card number begins, or -1.
func find(text string, counts func(digits string) bool) int {
	for at := 0; at < len(text); {
		if !isDigit(text[at]) {
			at++
			continue
		}
		run := digitsAt(text, at)
		if number(run) && counts(run) && !inHex(text, at, at+len(run)) {
			return at
		}
		if grouped(text, at, counts) {
			return at
		}
		at += len(run)
	}
	return -1
}

// grouped reports whether a card number in groups begins at a run of digits: the
// first group has four, the last one to six, those between three to six.
func grouped(text string, at int, counts func(digits string) bool) bool {
	digits := digitsAt(text, at)
	if len(digits) != 4 || wordBefore(text, at) {
		return false
	}
	for at += len(digits); ; {
		gap := separator(text[at:])
		group := digitsAt(text, at+gap)
		if gap == 0 || group == "" || len(group) > 6 || len(digits)+len(group) > longest {
			return false
		}
		digits += group
		at += gap + len(group)
		if number(digits) && counts(digits) && !wordAfter(text, at) {
			return true
		}
		if len(group) < 3 {
			return false
		}
	}
}

// separator returns the length of a blank or a dash at the start of a text.
func separator(text string) int {
	r, size := utf8.DecodeRuneInString(text)
	switch r {
	case ' ', '\t', '-', '\u00a0', '\u2007', '\u2009', '\u202f', '\u2010', '\u2011', '\u2012', '\u2013', '\u2212':
		return size
	}
	return 0
}

func digitsAt(text string, at int) string {
	end := at
	for end < len(text) && isDigit(text[end]) {
		end++
	}
	return text[at:end]
}

// number reports whether digits are as many as a card number's and pass Luhn's check.
func number(digits string) bool {
	if len(digits) < shortest || len(digits) > longest {
		return false
	}
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// inHex reports whether the digits from start to end stand in a long hexadecimal word
// that has letters, too.
func inHex(text string, start, end int) bool {
	first, last := max(0, start-hexLook), min(len(text), end+hexLook)
	for start > first && isWord(text[start-1]) {
		start--
	}
	for end < last && isWord(text[end]) {
		end++
	}
	word := text[start:end]
	return len(word) >= hexID && strings.Trim(word, "0123456789") != "" && strings.Trim(word, "0123456789abcdefABCDEF") == ""
}

func wordBefore(text string, at int) bool { return at > 0 && isWord(text[at-1]) }

func wordAfter(text string, at int) bool { return at < len(text) && isWord(text[at]) }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
