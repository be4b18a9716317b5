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
// Not noticed: a database that was exchanged while no process that had seen it, and no file, was left.
package watermark
