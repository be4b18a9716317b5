// Package postgres keeps what package payment decides, over PostgreSQL 15 or newer: it
// implements the stores that commands, runner, intake, support and others define.
//
// The promises rest on the schema (see migrations/): one live attempt an order,
// one attempt a request, one open operation a slot, one row an event are unique
// indexes, and what is final is guarded by triggers. The code here chooses the statements and
// sends them, many in one round trip; the SQL stands in queries/, the generated access to it in dbsqlc.
//
//	pool          connections, transactions, PostgreSQL's errors as the domain's
//	pipeline      queries that travel together
//	mapping       rows <-> the domain's types
//	supportstore  what support reads, and the audit log
//	evidence      what verification reads
//	sessions      the console's sessions
//
// A program opens one [Store]; [Store.Support], [Store.Evidence] and [Store.Sessions] share its connections.
package postgres
