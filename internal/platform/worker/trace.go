package worker

import (
	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/platform/tracing"
)

// inSpan adds the ids of a span to the fields of a line; nothing where traces are off.
func inSpan(fields zerolog.Context, span tracing.Context) zerolog.Context {
	if !span.Valid() {
		return fields
	}
	return fields.Stringer("trace_id", span.Trace).Stringer("span_id", span.Span)
}
