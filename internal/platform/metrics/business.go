package metrics

import (
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// business counts ended attempts, and discrepancies and other cases for people, as package overview counts them by hour.
type business struct {
	attempts *prometheus.CounterVec
	opened   *prometheus.CounterVec

	mu       sync.Mutex
	breakers map[string]func() float64
}

func newBusiness() *business {
	return &business{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "paylatch_attempts_total",
			Help: "Attempts that ended, each counted by one process; failure_code is empty for attempts that succeeded.",
		}, []string{"account", "status", "failure_code"}),
		opened: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "paylatch_discrepancies_opened_total", Help: "Discrepancies that were opened, each counted by one process.",
		}, []string{"kind"}),
		breakers: map[string]func() float64{},
	}
}

// Ended counts attempts that ended in one way, and discrepancies of a kind, the code, that were opened. Other subjects it leaves out.
func (m *Metrics) Ended(subject, account, status, code string, n int64) {
	switch subject {
	case "attempt":
		m.attempts.WithLabelValues(account, status, code).Add(float64(n))
	case "discrepancy":
		m.opened.WithLabelValues(code).Add(float64(n))
	}
}

// Breaker registers the state of an account's circuit breaker, which a scrape reads. It takes the place of an earlier one of the
// account.
func (m *Metrics) Breaker(account string, state func() float64) {
	m.mu.Lock()
	_, again := m.breakers[account]
	m.breakers[account] = state
	m.mu.Unlock()
	if again {
		return
	}
	m.into.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "paylatch_provider_breaker_state", ConstLabels: prometheus.Labels{"account": account},
		Help: "0: calls to the provider pass; 1: one trial call passes; 2: all calls are throttled.",
	}, func() float64 { return m.breaker(account)() }))
}

func (m *Metrics) breaker(account string) func() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.breakers[account]
}

// Breakers returns the states of the circuit breakers of this process, by account.
func (m *Metrics) Breakers() map[string]float64 {
	m.mu.Lock()
	registered := maps.Clone(m.breakers)
	m.mu.Unlock()
	states := make(map[string]float64, len(registered))
	for account, state := range registered {
		states[account] = state()
	}
	return states
}

// unknowns collects the calls to providers with an unknown outcome.
type unknowns struct {
	cache *cached[map[string]map[string]int64]
	desc  *prometheus.Desc
}

func newUnknowns(found *cached[map[string]map[string]int64]) unknowns {
	return unknowns{found, prometheus.NewDesc("paylatch_unknown_outcomes",
		"Calls to a provider with an unknown outcome, by age: up to a minute (minute), then ten_minutes, hour, day, older.",
		[]string{"account", "age"}, nil)}
}

// Describe implements prometheus.Collector.
func (u unknowns) Describe(ch chan<- *prometheus.Desc) { ch <- u.desc }

// Collect implements prometheus.Collector.
func (u unknowns) Collect(ch chan<- prometheus.Metric) {
	found, _, _ := u.cache.get()
	for account, ages := range found {
		for age, n := range ages {
			ch <- prometheus.MustNewConstMetric(u.desc, prometheus.GaugeValue, float64(n), account, age)
		}
	}
}

// storage measures the commits, and the batches that share a commit.
type storage struct {
	now     func() time.Time
	commits prometheus.Histogram
	batches *prometheus.HistogramVec
}

func newStorage(now func() time.Time) *storage {
	return &storage{
		now: now,
		commits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "paylatch_commit_duration_seconds", Buckets: seconds(), Help: "How long commits took, with the writes that were sent with them.",
		}),
		batches: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "paylatch_batch_items", Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128},
			Help: "Pays, call results and webhooks in each shared transaction.",
		}, []string{"what"}),
	}
}

// Commit measures a commit that succeeds.
func (m *Metrics) Commit(commit func() error) error {
	began := m.now()
	err := commit()
	if err == nil {
		m.commits.Observe(m.now().Sub(began).Seconds())
	}
	return err
}

// Batches returns a function that observes the sizes of batches of a name. There are few names.
func (m *Metrics) Batches(what string) func(items int) {
	o := m.batches.WithLabelValues(what)
	return func(items int) { o.Observe(float64(items)) }
}
