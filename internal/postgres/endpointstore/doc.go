// Package endpointstore keeps how far the endpoints of the merchant are, what is to be sent to them again, and the log of
// what was sent.
package endpointstore
