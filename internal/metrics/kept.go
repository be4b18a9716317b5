package metrics

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	keptFor = 30 * time.Second
	// keptTime is short enough for a scrape to bear it.
	keptTime = time.Second
)

// kept is an answer that costs a query. It is asked for by a scrape and kept for a
// while; while it can't be had, the last one stays and grows older.
type kept[T any] struct {
	read func(ctx context.Context) (T, error)
	now  func() time.Time

	mu    sync.Mutex
	last  T
	asked time.Time
	known time.Time
}

// get returns the answer and its age; ok is false as long as nothing was ever known.
func (k *kept[T]) get() (answer T, age time.Duration, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	if k.asked.IsZero() || now.Sub(k.asked) >= keptFor {
		ctx, cancel := context.WithTimeout(context.Background(), keptTime)
		defer cancel()
		k.asked = now
		if found, err := k.read(ctx); err == nil {
			k.last, k.known = found, now
		}
	}
	return k.last, now.Sub(k.known), !k.known.IsZero()
}

// number is a gauge of what is kept; NaN as long as nothing was ever known.
func number(o prometheus.GaugeOpts, k *kept[int64]) prometheus.Collector {
	return prometheus.NewGaugeFunc(o, func() float64 {
		n, _, ok := k.get()
		if !ok {
			return math.NaN()
		}
		return float64(n)
	})
}
