// Package inbox lets a consumer process a message once, although it is delivered any number of times.
//
// paylatch's endpoints, NATS JetStream and Kafka deliver at least once, and a feed is read again after a crash. [Once] writes a
// marker of the message and the consumer's effect in one transaction, so that both are on disk or neither:
//
//	begin ── marker ──┬─ new ────► fn ──┬─ nil ───► done, committed with the caller's transaction
//	                  │                 └─ error ─► marker and effect undone, the next delivery acts
//	                  └─ seen ───► nothing to do: acknowledge
//
// A second delivery during the first waits for its transaction. If that commits, the second does nothing; if it is rolled back
// or its process dies, the second acts.
//
// Acknowledge a message after the commit, never before. A consumer that dies in between gets the message again and does nothing.
//
// The table is [Schema]: put it into a migration. [Purge] removes old markers.
//
// # Limits
//
// An effect outside the database, such as an e-mail, is not part of the transaction. Write it into a table in fn, and let a worker
// send it with a key of its own.
//
// # Order
//
// Once does not order messages: version 3 of a payment may be delivered before version 2. Store the version with the effect, and
// let only a newer one change it, in fn:
//
//	UPDATE payments SET status = $2, version = $3 WHERE id = $1 AND version < $3
//
// No changed row means that a newer message was applied before. The marker stays. The Example "Version" shows it.
package inbox
