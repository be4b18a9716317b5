// Package api is the HTTP side: a thin shell of echo around the use cases. A
// handler reads a request that has already been found to be what the contract
// allows, calls one use case and writes the answer.
//
// The way of a request:
//
//	identify ─► log ─► recover ─► (commands: echo the key) ─► authenticate ─► (commands: check the key)
//	  ─► bind: media type, size, strict JSON, the schema of api/openapi.yaml
//	  ─► handler ─► use case ─► answer, or an error that the table in problem.go turns into a problem document
//
// What a middleware learns stands in the request's exchange. Webhooks and the
// operations endpoints take the same way without the token and the schema.
//
// The package decides nothing about payments and knows neither the store nor
// the providers.
package api
