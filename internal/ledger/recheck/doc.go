// Package recheck looks up final attempts again, at some ages. So a refund made in a dashboard or a chargeback is
// recorded even if its webhook was lost. At the last age the money can hardly move any more:
//
//	turn: take the account's cursors ─► list the next attempts ─► Ask each ─► move the cursor ─► list …
//
// An account has a cursor for each age, in the order of attempts' ids, which begin with the time. So nothing is written
// when a payment is made. A turn is a minute. One process has it, and may look up [Budget] attempts in it, less the due
// operations of the account: those have priority. A cursor moves after each batch, so that a process that dies repeats
// one batch at most, which changes nothing. It stays before the first attempt with a throttled lookup, or while the
// provider shows no payment at all. One attempt that can't be looked up while others can is counted, and skipped until
// its next age.
//
// Pending attempts and accounts without lookups are left out. An import that is older than an age is looked up at the
// ages that it has yet to reach.
package recheck
