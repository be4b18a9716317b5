// Package worklist lists open discrepancies with assignees, comments and resolutions.
//
//	List ─► Assign ─► Comment ─► Resolve: by a person
//	   └─► Settler.Turn: by itself, once nothing is left to decide
//
// Several people work on one list at once. An assignment is compare-and-set: another person's assignment changes only by
// a request that names that person. A refusal is a *payment.AssignedError with the assignee. Comments are only added. A
// discrepancy is resolved once, under the locks of its order and attempts. A later different resolution gets
// payment.ErrResolved. An assignment reserves nothing: a person may resolve a discrepancy of another assignee, unless
// the request expects an assignee.
//
// Each call is in the audit log, a change in its own transaction. Only Changed is not logged: an open page calls it
// every few seconds. It must be called only for entries that the same person has listed before, in a logged call.
//
// The rules of payment.Discrepancy.Settled, one for each kind, close settled discrepancies, off the path of payments. A
// turn reads a portion of the open discrepancies without a lock. It reads again only the ones that seem settled, under
// the locks of their event, order and attempts, and closes them in the same transaction. One process at a time has the
// turn. A close by a process that has lost the turn is correct nevertheless.
package worklist
