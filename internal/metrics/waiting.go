package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Waiting is how many discrepancies of a kind are open, and the age of the oldest.
type Waiting struct {
	Count  int64
	Oldest time.Duration
}

// waiting tells of open discrepancies. It is asked for by a scrape and kept for a
// while; while it can't be had, the last answer stays and grows older.
type waiting struct {
	read   func(ctx context.Context) (map[string]Waiting, error)
	now    func() time.Time
	open   *prometheus.Desc
	oldest *prometheus.Desc

	mu    sync.Mutex
	last  map[string]Waiting
	asked time.Time
	known time.Time
}

func newWaiting(read func(ctx context.Context) (map[string]Waiting, error), now func() time.Time) *waiting {
	return &waiting{
		read: read, now: now,
		open: prometheus.NewDesc("paylatch_discrepancies_open", "Discrepancies that nobody has resolved.", []string{"kind"}, nil),
		oldest: prometheus.NewDesc("paylatch_discrepancies_oldest_seconds",
			"How long the oldest open discrepancy of a kind has been waiting for a person.", []string{"kind"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (w *waiting) Describe(ch chan<- *prometheus.Desc) {
	ch <- w.open
	ch <- w.oldest
}

// Collect implements prometheus.Collector.
func (w *waiting) Collect(ch chan<- prometheus.Metric) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	if w.asked.IsZero() || now.Sub(w.asked) >= estimateEvery {
		ctx, cancel := context.WithTimeout(context.Background(), estimateTime)
		defer cancel()
		w.asked = now
		if found, err := w.read(ctx); err == nil {
			w.last, w.known = found, now
		}
	}
	for kind, waiting := range w.last {
		ch <- prometheus.MustNewConstMetric(w.open, prometheus.GaugeValue, float64(waiting.Count), kind)
		ch <- prometheus.MustNewConstMetric(w.oldest, prometheus.GaugeValue, (waiting.Oldest + now.Sub(w.known)).Seconds(), kind)
	}
}
