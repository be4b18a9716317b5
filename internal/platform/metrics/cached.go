package metrics

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	cacheFor = 30 * time.Second
	// readTime is a small part of a scrape's.
	readTime = time.Second
)

// cached is a value that costs a query. A scrape reads it at most once in cacheFor. If a read fails, the last value stays and
// grows older.
type cached[T any] struct {
	read func(ctx context.Context) (T, error)
	now  func() time.Time

	mu    sync.Mutex
	last  T
	tried time.Time
	at    time.Time
}

// get returns the value and its age; ok is false before the first.
func (k *cached[T]) get() (value T, age time.Duration, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	if k.tried.IsZero() || now.Sub(k.tried) >= cacheFor {
		ctx, cancel := context.WithTimeout(context.Background(), readTime)
		defer cancel()
		k.tried = now
		if found, err := k.read(ctx); err == nil {
			k.last, k.at = found, now
		}
	}
	return k.last, now.Sub(k.at), !k.at.IsZero()
}

// number is a gauge of a cached value; NaN before the first.
func number(o prometheus.GaugeOpts, k *cached[int64]) prometheus.Collector {
	return prometheus.NewGaugeFunc(o, func() float64 {
		n, _, ok := k.get()
		if !ok {
			return math.NaN()
		}
		return float64(n)
	})
}
