// Package overview counts for the first page of the console. It has payments by hour, approval rates, unknown outcomes,
// cases, refunds, and the state of accounts and endpoints.
//
//	events for the merchant ─► Count: by hour, account, currency, outcome ─┐
//	open operations, cases, accounts, endpoints ───────────────────────────┴─► Read, at most once in a few seconds ─► page, API, metrics
//
// Each attempt, refund and discrepancy is counted once, in the hour in which it ended or was opened, some seconds after that.
// Counting follows the positions of the outbox, which are complete (decision 0038), in the transaction that moves its progress.
// So a crash counts nothing twice, and leaves out nothing that retention.events still keeps (decision 0047).
//
// The numbers may be a few seconds old. They are not a snapshot: each number is read by itself.
package overview
