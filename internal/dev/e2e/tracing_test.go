package e2e_test

import (
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/tracing"
)

// TestTraces pays an order whose payment ends by a webhook, which goes on to an endpoint and a stream. All of it is in the
// attempt's trace, whose id is the attempt's, including later work of another process.
func TestTraces(t *testing.T) {
	t.Parallel()
	r, to := newRig(t), newCollector(t)
	provider, told := &headers{}, &headers{}
	environ := append(to.environ(), takingAll(t, told), "PAYLATCH_STREAMS=["+newNATSBroker(t).stream()+"]")
	s := r.serveAt(r.watched(provider), environ...)
	order := s.customer().order(t)
	a := s.customer().pay(t.Context(), order, unique("key"), "tok_async_success", traceparent).attempt(t, http.StatusCreated)
	require.Equal(t, "succeeded", s.customer().settled(t, a.ID).Status)

	trace := traceOf(t, a.ID)
	first, charge, commit := to.named(t, trace, "payment attempt"), to.named(t, trace, "charge"), to.named(t, trace, "commit")
	webhook, delivery := to.named(t, trace, "webhook"), to.named(t, trace, "deliver")
	to.named(t, trace, "publish")
	request := to.named(t, theirTrace(), "POST /v1/orders/:order_id/pay")
	require.Equal(t, trace[8:], first.GetSpanId())
	for _, s := range to.of(trace) {
		if s != first {
			require.NotEmpty(t, s.GetParentSpanId(), s.GetName())
		}
	}
	require.Equal(t, "00f067aa0ba902b7", hex.EncodeToString(request.GetParentSpanId()), "the request is its caller's")
	require.True(t, linked(first, request) && linked(charge, request) && linked(commit, request))
	require.True(t, linked(request, first))
	require.LessOrEqual(t, first.GetEndTimeUnixNano(), charge.GetStartTimeUnixNano(), "nothing is sent before it is on disk")
	require.NotEmpty(t, webhook.GetLinks(), "the webhook's request, and its transaction")

	require.NotEmpty(t, provider.all())
	require.Empty(t, slices.DeleteFunc(provider.all(), func(h string) bool { return h == "" }), "a provider gets no traceparent")
	eventually(t, "the endpoint has a traceparent of the attempt's trace", func() bool {
		return slices.ContainsFunc(told.all(), func(h string) bool {
			c := tracing.Parse(h)
			return string(c.Trace[:]) == string(trace) && string(c.Span[:]) == string(delivery.GetSpanId())
		})
	})
	require.NotContains(t, to.anywhere(), "tok_async_success")
	require.NotContains(t, to.anywhere(), "u1\"")
	paid := slices.IndexFunc(s.stderr.lines(), func(l line) bool { return l.AttemptID == a.ID && l.TraceID == theirs })
	require.GreaterOrEqual(t, paid, 0, "the request's line has its trace")

	s.stop(t, syscall.SIGTERM)
	again := r.serve(environ...)
	id := r.pendingAt(t, "stripe-eu", "pi_traced")
	again.deliver(t.Context(), stripeSigner(t), intentSucceeded("evt_traced", "pi_traced", id, "1999")).is(t, http.StatusOK)
	late := to.named(t, traceOf(t, id), "webhook")
	require.Equal(t, traceOf(t, id)[8:], late.GetParentSpanId(), "below a root that another process has begun")
}

// TestTracesOfLoops makes the reconciler find the result of a charge: its line of the log is in the attempt's trace.
func TestTracesOfLoops(t *testing.T) {
	t.Parallel()
	r, to := newRig(t), newCollector(t)
	r.hooks.shut()
	s := r.serve(to.environ()...)
	a := s.customer().pay(t.Context(), s.customer().order(t), unique("key"), "tok_async_success").attempt(t, http.StatusCreated)
	require.Equal(t, "succeeded", s.customer().settled(t, a.ID).Status)
	span := to.named(t, traceOf(t, a.ID), "reconcile")
	ids := slices.DeleteFunc(s.stderr.lines(), func(l line) bool { return l.Message != "executed" || l.AttemptID != a.ID })
	require.NotEmpty(t, ids)
	require.Equal(t, hex.EncodeToString(traceOf(t, a.ID)), ids[0].TraceID)
	require.Equal(t, hex.EncodeToString(span.GetSpanId()), ids[0].SpanID)
}

// TestTracesOff: without a collector no header is sent, and no line has a trace.
func TestTracesOff(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	told := &headers{}
	s := r.serve(takingAll(t, told))
	a := s.customer().pay(t.Context(), s.customer().order(t), unique("key"), "tok_success", traceparent).attempt(t, http.StatusCreated)
	require.Equal(t, "succeeded", s.customer().settled(t, a.ID).Status)
	eventually(t, "the endpoint is told", func() bool { return len(told.all()) > 0 })
	require.Empty(t, slices.DeleteFunc(told.all(), func(h string) bool { return h == "" }))
	require.NotContains(t, s.stderr.String(), "trace_id")
}

// TestTracesToNowhere pays, and stops, while the collector hangs or is not there.
func TestTracesToNowhere(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-end }))
	t.Cleanup(hangs.Close)
	t.Cleanup(func() { close(end) })
	for name, at := range map[string]string{"hangs": hangs.URL, "refuses": "http://127.0.0.1:1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			s := r.serve("PAYLATCH_TRACING_ENDPOINT="+at, "OTEL_BSP_SCHEDULE_DELAY=10")
			for range 10 {
				a := s.customer().pay(t.Context(), s.customer().order(t), unique("key"), "tok_success").attempt(t, http.StatusCreated)
				require.Equal(t, "succeeded", a.Status)
			}
			code, took := s.stop(t, syscall.SIGTERM)
			require.Zero(t, code)
			require.Less(t, took, stopLimit)
			require.Contains(t, s.stderr.String(), "not exported")
		})
	}
}
