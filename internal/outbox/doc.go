// Package outbox makes the messages to the merchant, one for each transition of an attempt
// that matters to it.
package outbox
