// Package outbox publishes events to the merchant. Each event is written in the transaction of its change. It reaches the
// merchant at least once, always with the same id. The versions of one subject arrive in order.
//
//	commit ─► batch ─► position ─┬─► the feed: read on from a cursor, which is a position
//	                             ├─► endpoints: pushed, signed by Standard Webhooks
//	                             └─► streams: JetStream, Kafka
//
// An event has no position before it is committed. A [Numberer] gives positions to committed batches, which are the events of one
// statement each, in one transaction at a time, so that nothing appears behind a cursor later: a sequence alone does not have that,
// since transactions commit in another order than they draw from it (decision 0038).
package outbox
