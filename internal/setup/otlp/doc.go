// Package otlp exports the spans of package tracing by OTLP over HTTP. It is the only package that imports the library of
// OpenTelemetry.
//
// Nothing waits for the collector: spans go into a bounded queue that a goroutine exports. Spans that do not fit into the queue,
// or that the collector refuses, are dropped. The end of the process waits for the queue for a short time.
//
// The export of an attempt's trace depends on its id alone, so that all processes decide the same way, at any time. A request's
// trace follows its caller's flag if the request has a traceparent. A span that several calls share is exported if any of them
// is.
package otlp
