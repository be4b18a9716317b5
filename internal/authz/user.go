package authz

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/paylatch/paylatch/internal/payment"
)

// maxUser bounds a user's id, in characters.
const maxUser = 255

// ErasedPrefix begins the pseudonyms of customers whose names were erased.
const ErasedPrefix = payment.ErasedPrefix

var (
	errUserErased   = errors.New("must be another name: whatever begins with " + ErasedPrefix + " is a customer whose name was erased")
	errUserForm     = errors.New("must be 1 to 255 visible characters, without blanks")
	errUserReserved = errors.New("must be another name: paylatch, provider and whatever begins with cli:, staff:, policy:, provider: or key: are reserved")
)

// ParseUserID parses a user's id. Its error says how the text must be. It refuses the names of paylatch itself, providers,
// policies, operators and API keys in the logs and the audit, and the pseudonyms of erased customers.
func ParseUserID(s string) (payment.UserID, error) {
	if strings.HasPrefix(s, ErasedPrefix) {
		return "", errUserErased
	}
	return ParseOwner(s)
}

// ParseOwner is ParseUserID for the owner of payments, which may be a pseudonym: an erased customer's payments can still be refunded, and
// lists are filtered by it.
func ParseOwner(s string) (payment.UserID, error) {
	blank := func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }
	switch {
	case s == "", !utf8.ValidString(s), utf8.RuneCountInString(s) > maxUser, strings.ContainsFunc(s, blank):
		return "", errUserForm
	case s == "paylatch", s == "provider", slices.ContainsFunc(reservedPrefixes(), func(p string) bool { return strings.HasPrefix(s, p) }):
		return "", errUserReserved
	}
	return payment.UserID(s), nil
}

func reservedPrefixes() []string {
	return []string{"cli:", "staff:", "policy:", "provider:", keyPrefix}
}
