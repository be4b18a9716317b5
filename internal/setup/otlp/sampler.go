package otlp

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/paylatch/paylatch/internal/platform/tracing"
)

// share samples that part of all traces, by their ids. It implements the library's Sampler.
type share float64

// randomBits is the number of bits at the end of an id that are random in a UUIDv7, too. The bits before them are its time, its
// version and its cell. The library's own sampler would read the variant, which is the same in all ids.
const randomBits = 48

func (s share) has(id trace.TraceID) bool {
	drawn := binary.BigEndian.Uint64(id[8:]) & (1<<randomBits - 1)
	return float64(drawn) < float64(s)*(1<<randomBits)
}

// ShouldSample decides by the parent span, by the linked spans, or by the id. For the first span of an attempt's trace the id
// decides, whatever its links.
func (s share) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	parent := trace.SpanContextFromContext(p.ParentContext)
	var sampled bool
	switch _, own := p.ParentContext.Value(forced{}).(tracing.Context); {
	case parent.IsValid():
		sampled = parent.IsSampled()
	case len(p.Links) > 0 && !own:
		sampled = slices.ContainsFunc(p.Links, func(l trace.Link) bool { return l.SpanContext.IsSampled() })
	default:
		sampled = s.has(p.TraceID)
	}
	result := sdk.SamplingResult{Decision: sdk.Drop, Tracestate: parent.TraceState()}
	if sampled {
		result.Decision = sdk.RecordAndSample
	}
	return result
}

// Description implements the library's Sampler.
func (s share) Description() string { return "share by the trace's id, or as the span above" }

// ids implements the library's IDGenerator: the ids are random unless they are derived.
type ids struct{}

// NewIDs implements the library's IDGenerator.
func (g ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if own, ok := ctx.Value(forced{}).(tracing.Context); ok {
		return trace.TraceID(own.Trace), trace.SpanID(own.Span)
	}
	var id trace.TraceID
	binary.NativeEndian.PutUint64(id[:8], random())
	binary.NativeEndian.PutUint64(id[8:], random())
	return id, g.NewSpanID(ctx, id)
}

// NewSpanID implements the library's IDGenerator.
func (ids) NewSpanID(context.Context, trace.TraceID) trace.SpanID {
	var id trace.SpanID
	binary.NativeEndian.PutUint64(id[:], random())
	return id
}

// random is never 0, which no id may be.
func random() uint64 { return rand.Uint64()>>1 + 1 } //nolint:gosec // names, not secrets
