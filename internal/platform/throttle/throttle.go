// Package throttle limits how often each caller does something.
package throttle

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// manyKeys is the number of keys at which idle ones are first forgotten; later it is
// twice the number that were left.
const manyKeys = 1000

// KeyedLimiter limits each key by itself, in this process. It is safe for concurrent
// use.
type KeyedLimiter struct {
	every rate.Limit
	burst int

	mu       sync.Mutex
	limiters map[string]*rate.Limiter
	// forgetAt is how many keys there are when the next are forgotten.
	forgetAt int
}

// New allows each key perSecond events a second on average, and burst at once.
func New(perSecond float64, burst int) *KeyedLimiter {
	return &KeyedLimiter{every: rate.Limit(perSecond), burst: burst, limiters: make(map[string]*rate.Limiter), forgetAt: manyKeys}
}

// Wait returns the time after which an event of a key would be counted, 0 for at once. It counts nothing.
func (k *KeyedLimiter) Wait(key string, now time.Time) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.limiters[key]
	if l == nil {
		return 0
	}
	lacking := 1 - l.TokensAt(now)
	if lacking <= 0 {
		return 0
	}
	return time.Duration(lacking / float64(k.every) * float64(time.Second))
}

// Reserve counts an event of a key and returns 0, or counts nothing and returns the
// time after which to retry. It does not wait.
func (k *KeyedLimiter) Reserve(key string, now time.Time) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.limiters) >= k.forgetAt {
		for other, l := range k.limiters {
			if l.TokensAt(now) >= float64(k.burst) {
				delete(k.limiters, other)
			}
		}
		k.forgetAt = max(manyKeys, 2*len(k.limiters))
	}
	if k.limiters[key] == nil {
		k.limiters[key] = rate.NewLimiter(k.every, k.burst)
	}
	booked := k.limiters[key].ReserveN(now, 1)
	wait := booked.DelayFrom(now)
	if wait > 0 {
		booked.CancelAt(now)
	}
	return wait
}
