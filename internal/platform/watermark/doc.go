// Package watermark notices that a database lost commits, and holds pays and refunds. They wait until the providers'
// books were compared with the database.
//
// Payments that such a database has lost could be paid, or refunded, a second time. So the service raises a mark in its database
// every few seconds and keeps a copy in a local file ([Guard.Tick]). The service reads the mark on each new connection
// ([Guard.Look]), before it does anything else with the connection. A database can't be exchanged without a new connection,
// unless a pooler keeps the connection; then the next tick notices it. A mark behind the copy shows that the database is older
// than it was: it was restored.
//
// A database on another server, or of another history of writes (a timeline of PostgreSQL), may be older, too, or may have
// everything: a standby has taken over. Each process knows the last commits that it has acknowledged ([Guard.Acknowledged]) and
// looks them up. Pays wait until all processes that were alive have found theirs; this takes seconds. If a commit is missing, or a
// process does not answer, every account is held. A reconciliation that covers the lost time ends an account's hold, or a person
// ends it after a comparison by hand.
//
// A server that starts again after a crash is asked in the same way, by each process for itself. A heartbeat that the database has
// forgotten shows a loss without a restart.
//
// Where commits wait for a synchronous standby, a commit can be read before the standby has it. [Guard.Confirmed] reports whether what was
// read outlives the server.
//
// Not noticed: a database that was exchanged while no process that had seen it, and no file, was left. A commit that an administrator took
// out of its wait for the standby, for example by pg_terminate_backend, is promised although no standby has it. Behind a pooler, a crash
// of the server is noticed by the next tick only.
package watermark
