// Package tracing makes spans of requests, transactions, calls, webhooks and deliveries. It imports no other package of
// this module and no library of traces: internal/setup/otlp exports the spans.
//
// All spans of a payment attempt are in one trace, in whatever process and at whatever time they happen. The trace's id is the
// attempt's, its 16 bytes as they are, and the root span's id is the last 8 of these bytes. So a webhook that comes days later,
// or a delivery by another process, joins the trace without stored data. A request has a trace of its own, or its caller's if it
// has a traceparent, since one request may be about several attempts and an attempt has many requests. Links connect the two. A
// transaction that several calls share is a span of a trace of its own, linked with each of them.
//
// The tracer is a value of the context (With). All handlers and all periodic work derive their contexts from this context.
// Without a tracer every function here returns at once and allocates nothing. A *Span is nil then; all its methods accept nil.
//
// A span carries the ids of an order and an attempt, an account, a kind and an outcome (Of), and nothing else. Data of a person,
// a token or a body can't get into a span.
package tracing
