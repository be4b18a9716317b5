package authz

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/payment"
)

// ErrKeyNotFound is returned when no API key has an id or a hash: it never existed, or it was revoked.
var ErrKeyNotFound = errors.New("API key not found")

// Key is an API key of a program of the merchant. Its text is not kept.
type Key struct {
	ID   uuid.UUID
	Name string
	// Roles are service, support and admin: a key has no user, so it has no customer's role.
	Roles []payment.Role
	// Scopes narrow the roles; empty for all that the roles may.
	Scopes []Scope
	// Prefix is the first characters of the text.
	Prefix string
	// CreatedBy is the creator's Person.
	CreatedBy string
	CreatedAt time.Time
	// ExpiresAt is nil for a key without an end, LastUsedAt for a key that was not used.
	ExpiresAt, LastUsedAt *time.Time
}

// keyPrefix begins the names of API keys in the logs and the audit.
const keyPrefix = "key:"

// Actor is the bearer of the key.
func (k Key) Actor() Actor {
	return Actor{Subject: keyPrefix + k.ID.String(), Roles: k.Roles, Key: &k}
}

// Expired reports whether the key has ended by itself.
func (k Key) Expired(now time.Time) bool { return k.ExpiresAt != nil && !now.Before(*k.ExpiresAt) }

// A key's text is KeyPrefix and the base64url of 32 random bytes and their CRC-32: 48 characters. The checksum lets a scanner for
// secrets recognise a key, and refuses other texts without a lookup. It proves nothing.
const (
	KeyPrefix    = "plk_"
	keyRandom    = 32
	keyShown     = len(KeyPrefix) + 6
	keyChecksum  = crc32.Size
	keyTextBytes = keyRandom + keyChecksum
)

// KeyHash is the SHA-256 of a key's text, which is stored in place of the text.
type KeyHash [sha256.Size]byte

// NewKeyText returns the text of a new key, the characters that may be shown again, and its hash.
func NewKeyText() (text, prefix string, hash KeyHash) {
	body := make([]byte, keyRandom, keyTextBytes)
	_, _ = rand.Read(body) // it never fails
	body = binary.BigEndian.AppendUint32(body, crc32.ChecksumIEEE(body))
	text = KeyPrefix + base64.RawURLEncoding.EncodeToString(body)
	return text, text[:keyShown], sha256.Sum256([]byte(text))
}

// HashKey returns the hash of a key's text; false for a text that can't be a key.
func HashKey(text string) (KeyHash, bool) {
	encoded, prefixed := strings.CutPrefix(text, KeyPrefix)
	body, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if !prefixed || err != nil || len(body) != keyTextBytes || len(encoded) != base64.RawURLEncoding.EncodedLen(keyTextBytes) {
		return KeyHash{}, false
	}
	if crc32.ChecksumIEEE(body[:keyRandom]) != binary.BigEndian.Uint32(body[keyRandom:]) {
		return KeyHash{}, false
	}
	return sha256.Sum256([]byte(text)), true
}
