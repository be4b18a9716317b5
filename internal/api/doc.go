// Package api handles HTTP requests. A handler reads a request that the contract allows, calls one use case and writes
// the response.
//
// The way of a request:
//
//	identify ─► log ─► recover ─► (commands: echo the key) ─► authenticate ─► (commands: check the key)
//	  ─► bind: media type, size, strict JSON, the schema of api/openapi.yaml
//	  ─► handler ─► use case ─► response, or an error that problem's table turns into a problem document
//
// The middleware records its results in the request's exchange, and in the access record for the log and the metrics.
//
// Code outside of the handlers is in packages that do not import this one: access (records), contract and
// strictjson (validation), delivery (webhooks), exchange (one request, from its beginning to its line in the log), gate (the
// checks before a handler), gen (the contract's types), problem (errors), render (the JSON of the contract's objects),
// request (bodies), site (pages), waiting (long polls and streams).
//
// The package decides nothing about payments and depends neither on the store nor on the providers.
package api
