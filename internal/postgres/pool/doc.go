// Package pool connects to PostgreSQL: it opens the connections, bounds in time what is done on them, begins all transactions,
// and turns the errors of the server into the domain's. It has no statement about a payment.
//
//	Read      statements on one connection, each its own transaction
//	Once      a transaction, in few round trips (package pipeline)
//	InTx      the same, run again when PostgreSQL undid it because of another one
//	Snapshot  a transaction that sees one moment and only reads
//
// A caller waits 1.5 s for a connection and 10 s for what it does on it, at most. Until the schema was found once to be no older than
// this binary, and, for OpenDurable, the server to keep what it commits, all four return payment.ErrUnavailable.
package pool
