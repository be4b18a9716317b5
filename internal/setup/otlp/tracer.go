package otlp

import (
	"context"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/paylatch/paylatch/internal/platform/tracing"
)

// tracer implements tracing.Tracer.
type tracer struct {
	trace.Tracer

	share share
	now   func() time.Time
}

func (t *tracer) Now() time.Time { return t.now() }

func (t *tracer) Sampled(id tracing.TraceID) bool { return t.share.has(trace.TraceID(id)) }

// forced is the key of the ids that a span is to have.
type forced struct{}

// Start begins a span of the library. Nothing of the caller's context is needed: all is in s.
func (t *tracer) Start(s tracing.Start) tracing.Live {
	ctx := context.Background()
	switch {
	case s.Parent.Valid() && s.Role == tracing.Server:
		ctx = trace.ContextWithRemoteSpanContext(ctx, spanContext(s.Parent))
	case s.Parent.Valid():
		ctx = trace.ContextWithSpanContext(ctx, spanContext(s.Parent))
	case s.ID.Valid():
		ctx = context.WithValue(ctx, forced{}, s.ID)
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(kind(s.Role))}
	if !s.At.IsZero() {
		options = append(options, trace.WithTimestamp(s.At))
	}
	if len(s.Links) > 0 {
		links := make([]trace.Link, len(s.Links))
		for i, c := range s.Links {
			links[i].SpanContext = spanContext(c)
		}
		options = append(options, trace.WithLinks(links...))
	}
	_, span := t.Tracer.Start(ctx, s.Name, options...)
	return live{span}
}

func spanContext(c tracing.Context) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID(c.Trace), SpanID: trace.SpanID(c.Span), TraceFlags: trace.TraceFlags(0).WithSampled(c.Sampled),
	})
}

func kind(r tracing.Role) trace.SpanKind {
	switch r {
	case tracing.Server:
		return trace.SpanKindServer
	case tracing.Client:
		return trace.SpanKindClient
	case tracing.Producer:
		return trace.SpanKindProducer
	case tracing.Consumer:
		return trace.SpanKindConsumer
	case tracing.Internal:
	}
	return trace.SpanKindInternal
}

// live implements tracing.Live.
type live struct{ span trace.Span }

func (l live) Context() tracing.Context {
	c := l.span.SpanContext()
	return tracing.Context{Trace: tracing.TraceID(c.TraceID()), Span: tracing.SpanID(c.SpanID()), Sampled: c.IsSampled()}
}

func (l live) Link(c tracing.Context) { l.span.AddLink(trace.Link{SpanContext: spanContext(c)}) }

func (l live) End(of tracing.Of, outcome string, failed bool) {
	if l.span.IsRecording() {
		l.span.SetAttributes(attributes(of, outcome)...)
		if failed {
			l.span.SetStatus(codes.Error, "")
		}
	}
	l.span.End()
}

// attributes returns the only attributes of a span.
func attributes(of tracing.Of, outcome string) []attribute.KeyValue {
	attempt := of.Attempt
	if attempt == (uuid.UUID{}) {
		attempt = of.Refers
	}
	list := make([]attribute.KeyValue, 0, 5)
	for _, a := range [...]struct{ name, value string }{
		{"paylatch.order_id", of.Order}, {"paylatch.account", of.Account}, {"paylatch.kind", of.Kind}, {"paylatch.outcome", outcome},
	} {
		if a.value != "" {
			list = append(list, attribute.String(a.name, a.value))
		}
	}
	if attempt != (uuid.UUID{}) {
		list = append(list, attribute.String("paylatch.attempt_id", uuid.UUID(attempt).String()))
	}
	return list
}
