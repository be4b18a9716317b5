// Package payment takes payments exactly once. Start here.
//
// An order is what is to be paid; an attempt is one try to pay it. What can happen to
// them are the use cases of [Service]. Read them in this order; the other files are
// what these lean on:
//
//	order.go attempt.go refund.go       what there is
//	advance.go                          the one function that moves an attempt
//	pay.go pay_begin.go settle.go       a pay: commit 1 (its key: key.go), the call (charge.go), commit 2
//	permit.go method.go                 may money be taken now, and with what
//	intake.go batch.go                  webhooks, many in a commit (how they share it: groups.go)
//	recheck.go ask.go                   finding out; expire.go and void.go give up
//	command.go confirm.go cancel.go     a pay's two commits again
//	refund_create.go refund_event.go    money back
//	parked.go fetch.go stale.go         events that wait, or must be asked about
//	movement.go movement_batch.go       money that was moved after the payment
//	resolution.go resolve.go decide.go  what a person may decide, and does
//	verify.go                           whether the log agrees
//	store.go provider.go                the two ports
//
// The way of a payment:
//
//	Pay ─┬─ InTx: lock the order, take its key, insert the attempt       commit 1
//	     ├─ Provider.Charge                                              no transaction open
//	     └─ InTx: lock the attempt, advance, SaveChanges                 commit 2
//
//	Intake ──── InTx: events that are new, lock their attempts, advance each,
//	            SaveChanges, verdicts                                    one commit for many
//
//	Recheck ─┬─ InTx: take the attempt over (its fence rises)
//	         ├─ Provider.Lookup, Find, or the same Charge again
//	         └─ InTx: lock the attempt, advance, SaveChanges
//
// What nobody finishes is given up after asking (expire.go), a hold that comes too
// late too (void.go); what only a person can decide is a discrepancy, closed by
// Resolve. Verify makes every attempt again from its log.
//
// All news, from whatever side, goes through [advance], which is pure over what
// the transaction holds locked; what it returns is written by one method of the
// [Store]. A call that moves money needs a [Licence]. What a provider said is a
// fact and is applied by whoever brings it, however late.
//
// The package does not log and knows no SQL; of HTTP only the status that a stored
// answer has. Money and schedules go by the database's clock. The process's own
// serves licences, waits, notes and the search for missed names.
package payment
