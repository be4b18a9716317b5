package auth

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/paylatch/paylatch/internal/authz"
)

// cacheLength bounds how many tokens are remembered.
const cacheLength = 8192

// cache remembers tokens that were verified by the shared secret, which never
// changes while the process runs, until they expire: a page that polls brings the
// same one each time. It keeps their hashes, not them. The zero value is ready.
type cache struct {
	mu     sync.RWMutex
	tokens map[[sha256.Size]byte]verified
}

type verified struct {
	actor         authz.Actor
	begins, until time.Time
}

// actor returns the bearer of a token that is cached and still valid.
func (c *cache) actor(token string, now time.Time) (authz.Actor, bool) {
	c.mu.RLock()
	v, ok := c.tokens[sha256.Sum256([]byte(token))]
	c.mu.RUnlock()
	return v.actor, ok && now.Before(v.until) && !now.Before(v.begins)
}

// keep caches a token. A full cache is emptied: tokens in use come again.
func (c *cache) keep(token string, v verified) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tokens == nil || len(c.tokens) >= cacheLength {
		c.tokens = make(map[[sha256.Size]byte]verified)
	}
	c.tokens[sha256.Sum256([]byte(token))] = v
}
