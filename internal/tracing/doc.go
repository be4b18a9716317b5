// Package tracing is the seam by which requests, transactions, calls, webhooks and deliveries become spans. It imports
// nothing of ours and no library of traces: internal/tracing/otlp exports what comes through it.
//
// All that belongs to a payment attempt is in one trace, in whatever process and at whatever time it happens: the trace's id
// is the attempt's, its 16 bytes as they are, and the root span's id is the last 8 of those. So a webhook that comes days later,
// or a delivery by another process, joins the trace with nothing stored for it. A request has a trace of its own, its caller's
// where a traceparent came with it, since one request may be about several attempts and an attempt has many requests: the two
// are connected by links. A transaction that several calls share is a span of a trace of its own, linked with each of them.
//
// The tracer is a value of the context (With), which all that serves and all that runs on a clock derives its context from.
// Without one every function here returns at once, allocates nothing, and a *Span is nil, which all its methods take.
//
// A span carries the ids of an order and an attempt, an account, a kind and an outcome (Of), and nothing else: what a person, a
// token or a body contains has no way into one.
package tracing
