package metrics

import (
	"context"
	"math"
	"sync"
	"time"
)

const (
	estimateEvery = 30 * time.Second
	// estimateTime is short enough for a scrape to bear it.
	estimateTime = time.Second
)

// estimate is a number that costs a query. It is asked for by a scrape and kept
// for a while; while it can't be had, the last one stays.
type estimate struct {
	read func(ctx context.Context) (int64, error)
	now  func() time.Time

	mu    sync.Mutex
	known bool
	last  int64
	asked time.Time
}

// value is NaN as long as nothing was ever known.
func (e *estimate) value() float64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if now := e.now(); e.asked.IsZero() || now.Sub(e.asked) >= estimateEvery {
		ctx, cancel := context.WithTimeout(context.Background(), estimateTime)
		defer cancel()
		e.asked = now
		if n, err := e.read(ctx); err == nil {
			e.last, e.known = n, true
		}
	}
	if !e.known {
		return math.NaN()
	}
	return float64(e.last)
}
