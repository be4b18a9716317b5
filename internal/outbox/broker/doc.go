// Package broker publishes events to message brokers: NATS JetStream and Apache Kafka.
//
// A stream of the configuration is a reader of the feed with a cursor that is kept. One process at a time has its lease and
// publishes; what it records is fenced by that lease:
//
//	take the lease ─► connect ─► read behind the cursor ─► publish in rounds ─► record what is acknowledged
//	                     ▲                                      │
//	                     └── close, wait longer each time ◄── error
//
// The cursor moves only behind events that the broker has acknowledged. A round has at most one event of each order and of each
// subject: the next one is sent once the broker has acknowledged the one before, so none is stored ahead of an earlier one,
// whatever fails in between (decision 0041).
//
// Each event is stored at least once, with the same id and the same body. What was acknowledged and not recorded, because the
// process died or a round failed in part, is published again. JetStream drops a known id within its duplicate window; Kafka
// keeps both, and so do consumers see them: they act once for each id.
package broker
