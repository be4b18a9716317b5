package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

// statusPrefix separates a status token from a JWT, and lets secret scanners find it.
const statusPrefix = "pst_"

const (
	idLength   = 16
	bodyLength = idLength + 8
)

// statusKey signs status tokens: base64url of the attempt's id, the expiry in
// seconds since 1970, and the HMAC-SHA256 of both.
type statusKey []byte

// statusKeys are the keys of a ring: the first signs, all verify.
type statusKeys []statusKey

func newStatusKeys(ring []Key) (statusKeys, error) {
	derived, err := deriveEach(ring, "paylatch status token v1")
	keys := make(statusKeys, 0, len(derived))
	for _, k := range derived {
		keys = append(keys, k)
	}
	return keys, err
}

func (ks statusKeys) token(id payment.AttemptID, expires time.Time) string {
	return ks[0].token(id, expires)
}

// verify reports whether one of the keys made the sum of the body.
func (ks statusKeys) verify(body, sum []byte) bool {
	return slices.ContainsFunc(ks, func(k statusKey) bool { return hmac.Equal(k.sum(body), sum) })
}

func (k statusKey) token(id payment.AttemptID, expires time.Time) string {
	body := binary.BigEndian.AppendUint64(id[:], uint64(max(expires.Unix(), 0)))
	return statusPrefix + base64.RawURLEncoding.EncodeToString(append(body, k.sum(body)...))
}

func (k statusKey) sum(body []byte) []byte {
	m := hmac.New(sha256.New, k)
	m.Write(body)
	return m.Sum(nil)
}

func (ks statusKeys) actor(token string, now time.Time) (authz.Actor, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(token[len(statusPrefix):])
	if err != nil || len(b) != bodyLength+sha256.Size {
		return authz.Actor{}, refuse("this is not a status token")
	}
	if !ks.verify(b[:bodyLength], b[bodyLength:]) {
		return authz.Actor{}, refuse("the status token was not made by this service")
	}
	if now.Unix() >= int64(binary.BigEndian.Uint64(b[idLength:bodyLength])) { //nolint:gosec // ours, and never negative
		return authz.Actor{}, refuse("the status token has expired")
	}
	id := payment.AttemptID(uuid.UUID(b[:idLength]))
	return authz.Actor{OnlyAttempt: &id}, nil
}
