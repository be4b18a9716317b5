// Package throttle limits how often each caller does something.
package throttle

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// manyNames is when those who have not come for a while are forgotten, the first
// time. Each time that is done when there are twice as many as were left.
const manyNames = 1000

// Each limits everybody for themselves, in this process. It is safe for
// concurrent use.
type Each struct {
	every rate.Limit
	burst int

	mu    sync.Mutex
	names map[string]*rate.Limiter
	// forget is how many names there are when the next are forgotten.
	forget int
}

// New lets each name do something perSecond times a second on average, and burst
// times at once.
func New(perSecond float64, burst int) *Each {
	return &Each{every: rate.Limit(perSecond), burst: burst, names: make(map[string]*rate.Limiter), forget: manyNames}
}

// Wait counts one time of a name and returns 0, or counts nothing and returns
// after how long it may come again.
func (e *Each) Wait(name string, now time.Time) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.names) >= e.forget {
		for other, l := range e.names {
			if l.TokensAt(now) >= float64(e.burst) {
				delete(e.names, other)
			}
		}
		e.forget = max(manyNames, 2*len(e.names))
	}
	if e.names[name] == nil {
		e.names[name] = rate.NewLimiter(e.every, e.burst)
	}
	booked := e.names[name].ReserveN(now, 1)
	wait := booked.DelayFrom(now)
	if wait > 0 {
		booked.CancelAt(now)
	}
	return wait
}
