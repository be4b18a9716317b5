// Package storable has the texts and the names that the database takes as they are.
package storable

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// MaxName keeps a name well inside what an index can hold, in bytes.
const MaxName = 512

// Name is an id or another name as it is stored: of one that is too long its digest, which
// is the same each time.
func Name(name string) string {
	if len(name) <= MaxName {
		return Text(name)
	}
	sum := sha256.Sum256([]byte(name))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Text returns s with whatever a text of the database can't hold replaced.
func Text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// Whole reports whether the database takes a text as it is.
func Whole(s string) bool { return Text(s) == s }

// Nameable reports whether the database takes all names as they are, and can index them.
func Nameable(names ...string) bool {
	for _, name := range names {
		if len(name) > MaxName || !Whole(name) {
			return false
		}
	}
	return true
}
