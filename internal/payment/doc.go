// Package payment takes payments exactly once. Start here.
//
// An order is what is to be paid; an attempt is one try to pay it. Everything
// that can happen to them is a use case of [Service], one file each, named like
// the verb of the API: CreateOrder, Pay, Recheck, Intake, …
//
// The way of a payment:
//
//	Pay ─┬─ InTx: claim the key, lock the order, insert the attempt      commit 1
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
// The package does not log, has no clock but the transaction's (and the
// monotonic one of a licence), and knows neither HTTP nor SQL: it defines the
// two ports that it needs, [Store] and [Provider].
package payment
