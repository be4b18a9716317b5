package tracing

import (
	"context"
	"encoding/hex"
	"strings"
)

// TraceID is the id of a trace. The id of an attempt's trace is the attempt's id.
type TraceID [16]byte

// SpanID is the id of a span within its trace.
type SpanID [8]byte

// String is the id as logs and headers have it, in hexadecimal.
func (t TraceID) String() string { return hex.EncodeToString(t[:]) }

// String is the id as logs and headers have it, in hexadecimal.
func (s SpanID) String() string { return hex.EncodeToString(s[:]) }

// Context names a span, of this process or of another one. The zero value names no span.
type Context struct {
	Trace TraceID
	Span  SpanID
	// Sampled is set if the span is exported.
	Sampled bool
}

// Valid reports whether a span is named.
func (c Context) Valid() bool { return c.Trace != TraceID{} && c.Span != SpanID{} }

// The form of a traceparent of version 00 (https://www.w3.org/TR/trace-context/#traceparent-header).
const (
	traceparentLength = 55
	version           = "00"
	flagSampled       = 1
	// flagNone and flagOne are the flags as they are sent.
	flagNone, flagOne = "00", "01"
)

// Traceparent returns the value of the header of that name; empty if the context names no span.
func (c Context) Traceparent() string {
	if !c.Valid() {
		return ""
	}
	flags := flagNone
	if c.Sampled {
		flags = flagOne
	}
	return version + "-" + c.Trace.String() + "-" + c.Span.String() + "-" + flags
}

// Parse reads a traceparent. It returns the zero value for an invalid one, as the recommendation demands: the request then has a
// new trace. Parse ignores fields behind the flags in a later version.
func Parse(traceparent string) Context {
	if len(traceparent) < traceparentLength || strings.ToLower(traceparent) != traceparent {
		return Context{}
	}
	parts := strings.SplitN(traceparent, "-", 5)
	if len(parts) < 4 || parts[0] == "ff" || parts[0] == version && len(traceparent) != traceparentLength {
		return Context{}
	}
	var c Context
	var first, flags [1]byte
	for _, field := range []struct {
		to   []byte
		text string
	}{{first[:], parts[0]}, {c.Trace[:], parts[1]}, {c.Span[:], parts[2]}, {flags[:], parts[3]}} {
		if len(field.text) != hex.EncodedLen(len(field.to)) {
			return Context{}
		}
		if _, err := hex.Decode(field.to, []byte(field.text)); err != nil {
			return Context{}
		}
	}
	if !c.Valid() {
		return Context{}
	}
	c.Sampled = flags[0]&flagSampled != 0
	return c
}

// scope is the tracer and the span of a context.
type scope struct {
	tracer Tracer
	span   Context
}

type key struct{}

// With returns a context with a tracer, which contexts derived from it have, too.
func With(ctx context.Context, t Tracer) context.Context {
	return context.WithValue(ctx, key{}, &scope{tracer: t})
}

func scopeOf(ctx context.Context) *scope {
	s, _ := ctx.Value(key{}).(*scope)
	return s
}

// On reports whether spans go anywhere.
func On(ctx context.Context) bool { return scopeOf(ctx) != nil }

// Current returns the span of a context, or the zero value if traces are off or the context has no span.
func Current(ctx context.Context) Context {
	if s := scopeOf(ctx); s != nil {
		return s.span
	}
	return Context{}
}
