package idempotency

import (
	"crypto/sha256"
	"encoding/binary"
	"net/url"

	"github.com/gowebpki/jcs"
)

// Hash is the SHA-256 of a request.
type Hash [sha256.Size]byte

// HashOf is a hash as it was stored. Bytes of another length match no request.
func HashOf(stored []byte) (h Hash) {
	if len(stored) == len(h) {
		copy(h[:], stored)
	}
	return h
}

// HashRequest hashes a request so that two that mean the same have one hash:
// the body is taken in its canonical form (RFC 8785), the query sorted. A body
// that has no canonical form counts byte by byte.
func HashRequest(method, route string, ids []string, query url.Values, body []byte) Hash {
	h := sha256.New()
	part := func(b []byte) {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(b)))
		h.Write(length[:])
		h.Write(b)
	}
	part([]byte(method))
	part([]byte(route))
	for _, id := range ids {
		part([]byte(id))
	}
	part([]byte(query.Encode()))
	part(canonical(body))
	return Hash(h.Sum(nil))
}

func canonical(body []byte) []byte {
	if len(body) == 0 {
		return nil
	}
	c, err := jcs.Transform(body)
	if err != nil {
		return body
	}
	return c
}
