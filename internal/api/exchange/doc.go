// Package exchange is one request of the API while it is served: its sender, its idempotency key, its result, and the response
// to its error.
//
// Service makes the router that begins an exchange with each request and ends it with its line in the log. The checks and the
// handler find the exchange by Of or In and record their results in it.
package exchange
