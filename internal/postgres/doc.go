// Package postgres stores payments in PostgreSQL 15 or newer. It implements the stores that commands, runner, intake,
// support and others define.
//
// The guarantees rest on the schema (see migrations/). Unique indexes ensure one live attempt per order, one attempt per
// request, one open operation per slot and one row per event. Triggers guard final states. The code here chooses the
// statements and sends many of them in one round trip. The SQL is in queries/, the generated access to it in dbsqlc.
//
//	pool          connections, transactions, PostgreSQL's errors as the domain's
//	pipeline      queries that travel together
//	mapping       rows <-> the domain's types
//	supportstore  the data of the support console, and the audit log
//	evidence      the data for verification
//	sessions      the console's sessions
//
// A program opens one [Store]; [Store.Support], [Store.Evidence] and [Store.Sessions] share its connections.
package postgres
