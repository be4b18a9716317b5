// Package exchange is one request of the API while it is served: who sends it, under which key, what came of it, and how
// an error of it becomes a response.
//
// Service makes the router that begins an exchange with each request and ends it with its line in the log. What stands in between,
// the checks before a handler and the handler, finds the exchange by Of or In and records there what it finds out.
package exchange
