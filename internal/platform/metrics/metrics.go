// Package metrics counts the work of the service, for Prometheus. Labels hold names of the contract and of the configuration,
// never text from a caller, so their number is bounded. The names of the feed's readers come from their tokens; the caller that
// counts the readers bounds their names.
package metrics

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/paylatch/paylatch/internal/platform/stream"
)

// Options configure the metrics. Keys and Now are required.
type Options struct {
	// Keys estimates how many idempotency keys are stored. It is called by a scrape, at most twice a minute.
	Keys func(ctx context.Context) (int64, error)
	// Waiting returns the open discrepancies by kind; called as Keys.
	Waiting func(ctx context.Context) (map[string]Waiting, error)
	// Disputes returns the open disputes by account; called as Keys.
	Disputes func(ctx context.Context) (map[string]Disputed, error)
	// Overdue returns how long the first due item of "operations" and of parked "events" has been due, less than zero if no item
	// is due; called as Keys.
	Overdue func(ctx context.Context) (map[string]time.Duration, error)
	// Reconciled returns for how long accounts have had no finished daily reconciliation; called as Keys. May be nil.
	Reconciled func(ctx context.Context) (map[string]time.Duration, error)
	// FinalBehind returns how late the lookups of final attempts are, by account; called as Keys. May be nil.
	FinalBehind func(ctx context.Context) (map[string]time.Duration, error)
	// Parked counts the parked events; called as Keys.
	Parked func(ctx context.Context) (int64, error)
	// NotesLost counts notes that were lost and so are missing in the timeline of support.
	NotesLost func() int64
	Now       func() time.Time
	// Endpoints returns how far the endpoints are, by name; called as Keys. May be nil.
	Endpoints func(ctx context.Context) (map[string]Endpoint, error)
	// Readers returns how far the readers of the feed are, by names that are printable and few; may be nil.
	Readers func() map[string]Reader
	// Streams returns how far the streams are, by name; called as Keys. May be nil.
	Streams func(ctx context.Context) (map[string]PublishedTo, error)
	// Held returns the accounts whose pays and refunds wait. May be nil.
	Held func() []string
	// Rejected returns how many rejected deliveries are kept, by account; called as Keys. May be nil.
	Rejected func(ctx context.Context) (map[string]int64, error)
	// Unknown returns the number of unknown outcomes by account and age; called as Keys. May be nil.
	Unknown func(ctx context.Context) (map[string]map[string]int64, error)
	// Pool returns how the connections to the database are used; may be nil.
	Pool func() Pool
	// Cell is the value of the label cell of all metrics; may be empty.
	Cell string
	// Stream returns the counts of waiters; may be nil.
	Stream func() stream.Stats
	// Refusals are actions in the audit log. The series of their refusals begin at 0.
	Refusals []string
}

// Metrics is a registry of its own. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	// into registers with the label of the cell.
	into prometheus.Registerer

	requests   *prometheus.CounterVec
	durations  *prometheus.HistogramVec
	commands   *prometheus.CounterVec
	waits      prometheus.Histogram
	processing *prometheus.HistogramVec
	purged     prometheus.Counter
	webhooks   *prometheus.CounterVec
	refused    *prometheus.CounterVec
	upkeep
	*business
	*storage
}

// seconds returns the buckets of all durations, from a replay to the longest poll.
func seconds() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
}

// New returns metrics with a registry of their own.
func New(o Options) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "paylatch_http_requests_total", Help: "Requests answered.",
		}, []string{"method", "route", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "paylatch_http_request_duration_seconds", Help: "How long requests took.", Buckets: seconds(),
		}, []string{"method", "route"}),
		commands: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "paylatch_idempotency_requests_total",
			Help: "Commands by the result of their idempotency key: created, reused, conflict, in_progress, takeover, quota.",
		}, []string{"operation", "result"}),
		waits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "paylatch_idempotency_wait_seconds", Buckets: seconds(),
			Help: "Duration of commands that got another request's response, or waited for it in vain.",
		}),
		processing: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "paylatch_idempotency_processing_seconds", Buckets: seconds(),
			Help: "Duration of commands that were executed or taken over, by operation.",
		}, []string{"operation"}),
		purged: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "paylatch_idempotency_purged_total", Help: "Expired idempotency keys deleted.",
		}),
		webhooks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "paylatch_webhooks_total", Help: "Verified webhook events by their verdict.",
		}, []string{"account", "verdict"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "paylatch_webhooks_refused_total", Help: "Webhook deliveries that were refused, by the problem's code.",
		}, []string{"account", "code"}),
		upkeep: newUpkeep(), business: newBusiness(), storage: newStorage(o.Now),
	}
	m.into = m.labelled(o.Cell)
	m.into.MustRegister(m.all()...)
	m.into.MustRegister(
		m.requests, m.durations, m.commands, m.waits, m.processing, m.purged, m.webhooks, m.refused, m.attempts, m.opened, m.commits, m.batches,
		number(prometheus.GaugeOpts{
			Name: "paylatch_idempotency_rows", Help: "Idempotency keys stored, expired ones included; an estimate.",
		}, &cached[int64]{read: o.Keys, now: o.Now}),
	)
	m.into.MustRegister(o.collected()...)
	m.begin(o)
	return m
}

// labelled registers metrics with the label of a cell. Metrics of the whole process have no cell; the first cell registers them.
func (m *Metrics) labelled(cell string) prometheus.Registerer {
	if cell == "" || cell == "0" {
		m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	if cell == "" {
		return m.registry
	}
	return prometheus.WrapRegistererWith(prometheus.Labels{"cell": cell}, m.registry)
}

// collected returns the collectors whose values are read at a scrape.
func (o Options) collected() (all []prometheus.Collector) {
	if o.Waiting != nil {
		all = append(all, newWaiting(&cached[map[string]Waiting]{read: o.Waiting, now: o.Now}))
	}
	if o.Disputes != nil {
		all = append(all, newDisputes(&cached[map[string]Disputed]{read: o.Disputes, now: o.Now}))
	}
	if o.Overdue != nil {
		all = append(all, newOverdue(&cached[map[string]time.Duration]{read: o.Overdue, now: o.Now}))
	}
	if o.Reconciled != nil {
		all = append(all, newReconciled(&cached[map[string]time.Duration]{read: o.Reconciled, now: o.Now}))
	}
	if o.FinalBehind != nil {
		all = append(all, newBehind(&cached[map[string]time.Duration]{read: o.FinalBehind, now: o.Now}))
	}
	if o.Parked != nil {
		all = append(all, number(prometheus.GaugeOpts{
			Name: "paylatch_events_parked", Help: "Webhook events that wait for their payment or refund.",
		}, &cached[int64]{read: o.Parked, now: o.Now}))
	}
	if o.Endpoints != nil {
		all = append(all, newEndpoints(&cached[map[string]Endpoint]{read: o.Endpoints, now: o.Now}))
	}
	if o.Readers != nil {
		all = append(all, newReaders(o.Readers))
	}
	if o.Streams != nil {
		all = append(all, newStreams(&cached[map[string]PublishedTo]{read: o.Streams, now: o.Now}))
	}
	if o.Held != nil {
		all = append(all, newHeld(o.Held))
	}
	if o.Rejected != nil {
		all = append(all, newRejected(&cached[map[string]int64]{read: o.Rejected, now: o.Now}))
	}
	if o.Unknown != nil {
		all = append(all, newUnknowns(&cached[map[string]map[string]int64]{read: o.Unknown, now: o.Now}))
	}
	if o.Pool != nil {
		all = append(all, newConnections(o.Pool))
	}
	if o.NotesLost != nil {
		all = append(all, prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "paylatch_notes_lost_total", Help: "Requests and provider calls that are missing from payments' timelines.",
		}, func() float64 { return float64(o.NotesLost()) }))
	}
	if o.Stream != nil {
		all = append(all, waiters(o.Stream)...)
	}
	return all
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler { return HandlerOf(m) }

// HandlerOf serves the metrics of several cells.
func HandlerOf(all ...*Metrics) http.Handler {
	var of prometheus.Gatherers
	for _, m := range all {
		of = append(of, m.registry)
	}
	return promhttp.HandlerFor(of, promhttp.HandlerOpts{})
}

// Purged counts deleted keys.
func (m *Metrics) Purged(n int) { m.purged.Add(float64(n)) }
