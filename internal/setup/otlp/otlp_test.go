package otlp_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/tracing"
	"github.com/paylatch/paylatch/internal/setup/config"
	"github.com/paylatch/paylatch/internal/setup/otlp"
)

// receiver is a collector.
type receiver struct {
	*httptest.Server

	mu      sync.Mutex
	spans   []*spans.Span
	headers http.Header
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		var export collector.ExportTraceServiceRequest
		if q.URL.Path != "/v1/traces" || proto.Unmarshal(body, &export) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.headers = q.Header
		for _, of := range export.GetResourceSpans() {
			for _, in := range of.GetScopeSpans() {
				r.spans = append(r.spans, in.GetSpans()...)
			}
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func begin(t *testing.T, c config.Tracing, log io.Writer) (context.Context, func()) {
	t.Helper()
	ctx, stop, err := otlp.Begin(t.Context(), c, "test", zerolog.New(log))
	require.NoError(t, err)
	return ctx, stop
}

func about() tracing.Of {
	return tracing.Of{Attempt: uuid.MustParse(attempt), Order: "o-1", Account: "eu", Kind: "charge"}
}

const (
	attempt = "01900000-0000-7000-8000-00000000abcd"
	caller  = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
)

// TestExport sends the spans of an attempt, of its request and of a shared transaction to a collector.
func TestExport(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	ctx, stop := begin(t, config.Tracing{Endpoint: r.URL + "/", Sample: 1, Headers: "api-key=a%20b, x=y"}, io.Discard)
	in, request := tracing.Request(ctx, "POST /v1/orders/{order_id}/pay", caller)
	_, batch := tracing.Batch(in, "commit pays", []tracing.Context{request.Context()}, func(c tracing.Context) tracing.Context { return c })
	batch.End("", false)
	tracing.First(in, tracing.Past{Name: "payment attempt", Of: about(), Since: time.Unix(5, 0), Shared: batch.Context()})
	_, call := tracing.Begin(in, "charge", tracing.Client, about())
	call.End("unknown", true)
	request.About(tracing.Of{Refers: uuid.MustParse(attempt)})
	request.End("201", false)
	stop()

	require.Equal(t, "a b", r.headers.Get("Api-Key"))
	require.Equal(t, "y", r.headers.Get("X"))
	by := map[string]*spans.Span{}
	for _, s := range r.spans {
		by[s.GetName()] = s
	}
	require.Len(t, by, 4)
	id := uuid.MustParse(attempt)
	first, charge, pay, shared := by["payment attempt"], by["charge"], by["POST /v1/orders/{order_id}/pay"], by["commit pays"]
	require.Equal(t, id[:], first.GetTraceId())
	require.Equal(t, id[8:], first.GetSpanId())
	require.Empty(t, first.GetParentSpanId())
	require.Equal(t, uint64(5*time.Second), first.GetStartTimeUnixNano())
	require.Equal(t, id[:], charge.GetTraceId())
	require.Equal(t, id[8:], charge.GetParentSpanId())
	require.Equal(t, spans.Status_STATUS_CODE_ERROR, charge.GetStatus().GetCode())
	require.Equal(t, spans.Span_SPAN_KIND_CLIENT, charge.GetKind())
	require.Equal(t, spans.Span_SPAN_KIND_SERVER, pay.GetKind())
	require.Equal(t, "4bf92f3577b34da6a3ce929d0e0e4736", uuidText(pay.GetTraceId()))
	require.Equal(t, id[:], pay.GetLinks()[0].GetTraceId(), "the request leads to the attempt")
	require.Equal(t, pay.GetSpanId(), shared.GetLinks()[0].GetSpanId())
	require.NotEqual(t, pay.GetTraceId(), shared.GetTraceId())
	attributes := map[string]string{}
	for _, a := range charge.GetAttributes() {
		attributes[a.GetKey()] = a.GetValue().GetStringValue()
	}
	require.Equal(t, map[string]string{
		"paylatch.attempt_id": attempt, "paylatch.order_id": "o-1", "paylatch.account": "eu", "paylatch.kind": "charge", "paylatch.outcome": "unknown",
	}, attributes)
}

func uuidText(id []byte) string { return tracing.TraceID(id).String() }

// TestSample: an attempt's trace is exported whole or not at all, depending on its id. The share of exported UUIDv7 is the
// configured one.
func TestSample(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	ctx, stop := begin(t, config.Tracing{Endpoint: r.URL, Sample: 0.25}, io.Discard)
	_, again := begin(t, config.Tracing{Endpoint: r.URL, Sample: 0.25}, io.Discard)
	defer again()
	const attempts = 1000
	sampled := 0
	for range attempts {
		of := tracing.Of{Attempt: payment.OnlyCell.NewID()}
		tracing.First(ctx, tracing.Past{Name: "payment attempt", Of: of})
		_, span := tracing.Begin(ctx, "charge", tracing.Client, of)
		if span.Context().Sampled {
			sampled++
		}
		span.End("", false)
	}
	require.InDelta(t, attempts/4, sampled, 100)

	_, forced := tracing.Request(ctx, "GET", caller)
	require.True(t, forced.Context().Sampled, "as its caller's")
	_, refused := tracing.Request(ctx, "GET", caller[:53]+"00")
	require.False(t, refused.Context().Sampled)
	_, batch := tracing.Batch(ctx, "commit", []tracing.Context{refused.Context(), forced.Context()}, func(c tracing.Context) tracing.Context { return c })
	require.True(t, batch.Context().Sampled, "one of those that share it is")
	stop()
	names := map[string]int{}
	of := map[[16]byte]int{}
	for _, s := range r.spans {
		names[s.GetName()]++
		of[[16]byte(s.GetTraceId())]++
	}
	require.Equal(t, map[string]int{"payment attempt": sampled, "charge": sampled}, names)
	for id, n := range of {
		require.Equal(t, 2, n, "all of %x", id)
		require.Less(t, binary.BigEndian.Uint64(id[8:])&(1<<48-1), uint64(1<<46))
	}
}

// TestCollectorGone: neither a collector that hangs nor one that refuses delays the code that makes spans, or the end. It runs
// alone: the library has one error handler for the process, and the last Begin sets it.
func TestCollectorGone(t *testing.T) { //nolint:paralleltest // see above
	for name, respond := range map[string]func(w http.ResponseWriter, end <-chan struct{}){
		"hangs":   func(_ http.ResponseWriter, end <-chan struct{}) { <-end },
		"refuses": func(w http.ResponseWriter, _ <-chan struct{}) { w.WriteHeader(http.StatusForbidden) },
	} {
		t.Run(name, func(t *testing.T) {
			end := make(chan struct{})
			var asked atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				_, _ = io.Copy(io.Discard, q.Body)
				asked.Add(1)
				respond(w, end)
			}))
			defer s.Close()
			defer close(end)
			log := &syncBuffer{}
			ctx, stop := begin(t, config.Tracing{Endpoint: s.URL, Sample: 1}, log)
			began := time.Now()
			for range 50_000 { // many times the queue
				_, span := tracing.Begin(ctx, "charge", tracing.Client, about())
				span.End("accepted", false)
				require.Less(t, time.Since(began), 5*time.Minute, "a delay at each export would be longer")
			}
			require.Eventually(t, func() bool { return asked.Load() > 0 }, 5*time.Minute, 5*time.Millisecond)
			began = time.Now()
			stop()
			require.Less(t, time.Since(began), time.Minute, "two seconds on an idle machine")
			require.Contains(t, log.String(), "not exported")
		})
	}
}

type syncBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
