// Package endpoint delivers events to the addresses of the configuration, signed by Standard Webhooks
// (https://www.standardwebhooks.com).
//
// An endpoint is a reader of the feed with a cursor that is kept. One process at a time has its lease and delivers; what it
// records is fenced by that lease:
//
//	take the lease ─► read behind the cursor, and the retries that are due
//	               ─► send: subjects beside each other, the events of one in order
//	               ─► record: cursor, log of attempts, retries, in one transaction
//
// An event that fails becomes a retry, and with it what follows of its subject: only the first of a subject is tried again,
// so that the order is kept, and the cursor moves on, so that other subjects are not delayed. After the last try of the
// schedule it is dead: kept, not tried again, and the next of its subject is due. 410 ends all deliveries to the endpoint.
//
// Each event arrives at least once, with the same id and the same body. A process that dies repeats at most what it had read
// (batchSize and retriesAtOnce). It is not promised that an event comes only once, nor any order between subjects.
package endpoint
