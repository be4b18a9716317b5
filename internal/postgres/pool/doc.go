// Package pool connects to PostgreSQL. It opens the connections, bounds the time of their use, begins all transactions,
// and turns the errors of the server into the domain's. It has no statement about a payment.
//
//	Read      statements on one connection, each its own transaction
//	Once      a transaction, in few round trips (package pipeline)
//	InTx      the same, run again when PostgreSQL undid it because of another one
//	Snapshot  a transaction that sees one moment and only reads
//
// A caller waits at most 1.5 s for a connection and 10 s for its use. At first all four return payment.ErrUnavailable,
// until the schema was found to be no older than this binary. For OpenDurable the server must also have been found to
// keep its commits.
package pool
