// Package recheck has final attempts looked up at their providers again, at some ages until their money can hardly move any more,
// so that a refund made in a dashboard or a chargeback is recorded although its webhook was lost:
//
//	turn: take the account's cursors ─► list the next attempts ─► Ask each ─► move the cursor ─► list …
//
// An account has a cursor for each age, in the order of attempts' ids, which begin with the time: nothing is written when
// a payment is made. A turn is a minute. One process has it, and may look up [Budget] attempts in it, less the operations of the
// account that are due: those go first. A cursor moves after each batch, so that a process that dies repeats one
// batch at most, which changes nothing. It stays before the first attempt of which a lookup was held back, or while the
// provider shows nothing at all; one attempt that can't be looked up while others can is counted, and passed over until its
// next age.
//
// Pending attempts are not its business, and neither are accounts without lookups. An import that is older than an age is
// looked up at the ages that it has yet to reach.
package recheck
