// Package api is the HTTP side of the use cases: a handler reads a request that the contract allows, calls one use case and
// writes the response.
//
// The way of a request:
//
//	identify ─► log ─► recover ─► (commands: echo the key) ─► authenticate ─► (commands: check the key)
//	  ─► bind: media type, size, strict JSON, the schema of api/openapi.yaml
//	  ─► handler ─► use case ─► response, or an error that problem's table turns into a problem document
//
// The middleware leaves what it finds out in the request's exchange, and in its access record for the log and the metrics.
//
// What needs no handler has a package of its own, none of which imports this one: access (records), contract and
// strictjson (what is valid), delivery (webhooks), exchange (one request, from its beginning to its line in the log), gate (the
// checks before a handler), gen (the contract's types), problem (errors), render (what the contract's objects look like),
// request (bodies), site (pages), waiting (long polls and streams).
//
// The package decides nothing about payments and depends neither on the store nor on the providers.
package api
