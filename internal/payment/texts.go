package payment

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// PostgreSQL refuses some texts. These functions make texts and names that it takes as they are.

// MaxStorableName keeps a name well inside what an index can hold, in bytes.
const MaxStorableName = 512

// StorableName is an id or another name as it is stored. A name that is too long is stored as its digest, which
// is the same each time.
func StorableName(name string) string {
	if len(name) <= MaxStorableName {
		return StorableText(name)
	}
	sum := sha256.Sum256([]byte(name))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// StorableText returns s with whatever a text of the database can't hold replaced.
func StorableText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// IsStorable reports whether the database takes a text as it is.
func IsStorable(s string) bool { return StorableText(s) == s }

// Nameable reports whether the database takes all names as they are, and can index them.
func Nameable(names ...string) bool {
	for _, name := range names {
		if len(name) > MaxStorableName || !IsStorable(name) {
			return false
		}
	}
	return true
}
