package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	otlp "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/paylatch/paylatch/internal/dev/faults"
	"github.com/paylatch/paylatch/internal/platform/tracing"
)

// collector receives spans by OTLP.
type collector struct {
	URL string

	mu    sync.Mutex
	spans []*spans.Span
	texts []string
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var export otlp.ExportTraceServiceRequest
		if r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || proto.Unmarshal(body, &export) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.texts = append(c.texts, export.String())
		for _, of := range export.GetResourceSpans() {
			for _, in := range of.GetScopeSpans() {
				c.spans = append(c.spans, in.GetSpans()...)
			}
		}
	}))
	t.Cleanup(s.Close)
	c.URL = s.URL
	return c
}

// environ makes a service export to the collector after a short delay.
func (c *collector) environ() []string {
	return []string{"PAYLATCH_TRACING_ENDPOINT=" + c.URL, "OTEL_BSP_SCHEDULE_DELAY=50"}
}

// of returns the spans of a trace.
func (c *collector) of(trace []byte) []*spans.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.spans), func(s *spans.Span) bool { return string(s.GetTraceId()) != string(trace) })
}

// named waits for a span of a trace, and returns the first of its name.
func (c *collector) named(t *testing.T, trace []byte, name string) *spans.Span {
	t.Helper()
	var found *spans.Span
	eventually(t, "the span "+name, func() bool {
		all := c.of(trace)
		i := slices.IndexFunc(all, func(s *spans.Span) bool { return s.GetName() == name })
		if i >= 0 {
			found = all[i]
		}
		return i >= 0
	})
	return found
}

// anywhere is all received spans, as a text.
func (c *collector) anywhere() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.texts, "\n")
}

func traceOf(t *testing.T, attempt string) []byte {
	t.Helper()
	id, err := uuid.Parse(attempt)
	require.NoError(t, err)
	return id[:]
}

// linked reports whether a span has a link to another one.
func linked(s, to *spans.Span) bool {
	return slices.ContainsFunc(s.GetLinks(), func(l *spans.Span_Link) bool {
		return string(l.GetTraceId()) == string(to.GetTraceId()) && string(l.GetSpanId()) == string(to.GetSpanId())
	})
}

// headers keeps a header of all requests that pass.
type headers struct {
	mu   sync.Mutex
	seen []string
}

func (h *headers) note(r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, r.Header.Get("Traceparent"))
}

func (h *headers) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.seen)
}

// watched is the sandbox behind a proxy that keeps the headers of the requests.
func (r *rig) watched(h *headers) string {
	return faults.NewHTTP(r.t, r.sandbox, func(on faults.Way) faults.Way {
		return func(q *faults.Request) *faults.Response {
			h.note(q.Request)
			return on(q)
		}
	}).URL
}

// takingAll is an endpoint that accepts all deliveries, and keeps their headers.
func takingAll(t *testing.T, h *headers) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { h.note(r) }))
	t.Cleanup(s.Close)
	return `PAYLATCH_ENDPOINTS=[{"name":"shop","url":"` + s.URL + `","secrets":["` + stockistSecret + `"],"allow_private":true}]`
}

// line has the trace fields of a line of the log.
type line struct {
	Message   string `json:"message"`
	Route     string `json:"route"`
	AttemptID string `json:"attempt_id"`
	Operation string `json:"operation"`
	TraceID   string `json:"trace_id"`
	SpanID    string `json:"span_id"`
}

func (j *journal) lines() (all []line) {
	for text := range strings.Lines(j.String()) {
		var l line
		if json.Unmarshal([]byte(text), &l) == nil {
			all = append(all, l)
		}
	}
	return all
}

const (
	theirs      = "4bf92f3577b34da6a3ce929d0e0e4736"
	traceparent = "Traceparent: 00-" + theirs + "-00f067aa0ba902b7-01"
)

func theirTrace() []byte {
	c := tracing.Parse(strings.TrimPrefix(traceparent, "Traceparent: "))
	return c.Trace[:]
}
