// Package endpoint delivers signed events to the endpoints of the configuration. Requests are signed by Standard
// Webhooks (https://www.standardwebhooks.com).
//
// An endpoint is a reader of the feed with a stored cursor. One process at a time has its lease and delivers. The writes of
// that process are fenced by the lease:
//
//	take the lease ─► read behind the cursor, and the retries that are due
//	               ─► send: subjects beside each other, the events of one in order
//	               ─► record: cursor, log of attempts, retries, in one transaction
//
// An event that fails becomes a retry, and so do the later events of its subject. Only the first event of a subject is tried
// again, so that the order is kept. The cursor moves on, so that other subjects are not delayed. After the last try of the
// schedule the event is dead: it is kept and not tried again, and the next event of its subject is due. A 410 ends all
// deliveries to the endpoint.
//
// Each event arrives at least once, with the same id and the same body. After a process dies, at most one read batch is sent
// again (batchSize and retriesAtOnce). An event may arrive twice, and different subjects arrive in any order.
package endpoint
