// Package otlp exports what comes through package tracing by OTLP over HTTP. It is the only package that imports the library
// of OpenTelemetry.
//
// Nothing waits for the collector: spans go into a queue of bounded length that a goroutine exports, and what does not fit, or
// is not taken by the collector, is dropped. The end of the process waits for what is queued, for a short time.
//
// Whether an attempt's trace is exported follows from its id alone, so that all processes decide the same way, at any time. A
// request's trace follows its caller's flag where a traceparent came with it, and what several calls share is exported with any
// of them.
package otlp
