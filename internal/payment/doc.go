// Package payment has the types and rules of payments, without network and SQL. Begin with two files:
//
//   - advance.go applies a report of a provider to an attempt. Reports come in any order and any
//     number of times; states move in one direction, and amounts are sums of money movements.
//   - permit.go decides whether money may move now: for each operation, under the attempt's lock,
//     before its first byte is sent.
//
// An order is paid by one attempt at a time. An operation is one thing that is wanted from the provider for an attempt:
// charge, capture, cancel, refund or look up. It is a row with a state, a lease, a fencing token and an idempotency key.
// A report is a provider's statement about a payment. A discrepancy is a case that only a person can decide.
//
// These packages do no I/O either: refund decides what happens to refunds, gateway is the port to the providers, inbound
// is a verified webhook, review has the resolutions of a person, authz the rights of callers, outbox the messages to the
// merchant.
//
// Around them, each built on those before it: changeset is one transaction's unit of work, runner
// carries out operations, intake takes webhooks in, commands are the use cases. docs/explanation/tour.md walks
// through them.
package payment
