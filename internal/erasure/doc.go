// Package erasure takes a customer's name from what the customer paid.
//
//	Begin ─► Orders, a batch a transaction ─► Details, the same ─► Keys ─► End
//
// The money stays: orders, attempts, refunds, movements and their log keep ids, amounts and times, under a pseudonym that is random and
// the same for all orders of one customer. What named the customer beside them, and what providers sent, goes; docs/reference/privacy.md lists it.
//
// Each batch is whole: one that was cut is done again, and the same erasure again goes on where it stopped. An order with an attempt
// that is not over is left, and counted. No request of before an erasure charges again: its order is another user's from then on, and
// the request that made an order makes no second one.
package erasure
