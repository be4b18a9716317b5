// Package inbox lets a consumer act once on a message that is delivered any number of times.
//
// A sender that loses nothing repeats: paylatch's endpoints, NATS JetStream and Kafka all
// deliver at least once, and a feed is read again after a crash. [Once] writes a marker of the
// message and the consumer's effect in one transaction, so that both are on disk or neither:
//
//	begin ── marker ──┬─ new ────► fn ──┬─ nil ───► done, committed with the caller's transaction
//	                  │                 └─ error ─► marker and effect undone, the next delivery acts
//	                  └─ there ───► nothing to do: acknowledge
//
// A second delivery that comes while the first is under way waits for its transaction. If that
// commits, it does nothing; if that is rolled back or its process dies, it acts.
//
// Acknowledge a message after the commit, never before: a consumer that dies in between gets
// the message again and does nothing.
//
// The table is [Schema]: put it in a migration. [Purge] removes old markers.
//
// # What it does not do
//
// An effect outside the database, such as an e-mail or a call, is not part of the transaction. Write
// down in fn what is to be sent, and let a worker send it with a key of its own.
//
// # Messages that come late
//
// Each message has an id of its own, so Once says nothing about their order: version 3 of a
// payment may be delivered before version 2. Keep the version beside what it made and let only
// a newer one change it, in fn:
//
//	UPDATE payments SET status = $2, version = $3 WHERE id = $1 AND version < $3
//
// No row means that a newer message was applied before: there is nothing to do, and the marker
// stays. The Example "Version" shows it.
package inbox
