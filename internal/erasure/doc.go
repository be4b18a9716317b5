// Package erasure removes a customer's name from the customer's payments.
//
//	Begin ─► Orders, a batch a transaction ─► Details, the same ─► Keys ─► End
//
// The money stays: orders, attempts, refunds, movements and their log keep ids, amounts and times, under a random pseudonym,
// which is the same for all orders of one customer. Other data that names the customer, and data that providers sent, is
// deleted; docs/reference/privacy.md lists it.
//
// Each batch is one transaction: an interrupted batch is done again, and the same erasure started again continues at its last
// batch. An order with an attempt that is not over is left, and counted. No request from before an erasure charges again: its
// order belongs to another user from then on, and the request that made an order makes no second one.
package erasure
