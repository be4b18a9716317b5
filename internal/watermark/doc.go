// Package watermark notices a database that was restored from a backup, and holds pays and refunds back until the
// providers' books were compared with it.
//
// What such a database has forgotten could be paid, or refunded, a second time. So the service raises a mark in its
// database every few seconds and keeps a copy in a file beside it ([Guard.Tick]). The mark is read whenever a connection
// is made ([Guard.Look]), before anything else is done with it: a database can't be put in the place of another one
// without that, unless a pooler keeps the connection; then the next tick notices. If its mark is behind the copy, the database is older than it was, and one on another server, or of another history
// of writes (a timeline of PostgreSQL), may be. From then on every account is held. An account's hold ends with a
// reconciliation that covers the time which may be forgotten, or by a person, after a comparison by hand.
//
// Not noticed: a database that was exchanged while no process that had seen it, nor a file, was left.
package watermark
