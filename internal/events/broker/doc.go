// Package broker publishes events to message brokers: NATS JetStream and Apache Kafka.
//
// A stream of the configuration is a reader of the feed with a cursor that is kept. One process at a time has its lease and
// publishes. Its writes are fenced by that lease:
//
//	take the lease ─► connect ─► read behind the cursor ─► publish in rounds ─► record the acknowledged events
//	                     ▲                                      │
//	                     └── close, wait longer each time ◄── error
//
// The cursor moves only behind events that the broker has acknowledged. A round has at most one event of each order and of each
// subject: the next event is sent once the broker has acknowledged the previous event. So no event is stored ahead of an
// earlier event, even after a failure in between (decision 0041).
//
// Each event is stored at least once, with the same id and the same body. If the process dies or a round fails in part,
// acknowledged events may be unrecorded. They are published again. JetStream drops a duplicate id within its duplicate
// window. Kafka keeps both copies, so consumers must act once for each id.
package broker
