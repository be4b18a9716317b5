// Package worklist is what waits for people: the list of discrepancies, who works on which, what they write about it, and how it is resolved.
//
//	List ─► Assign ─► Comment ─► Resolve: by a person
//	   └─► Settler.Turn: by itself, once nothing is left to decide
//
// Several people work on one list at once. An assignment is compare-and-set: one that another person has changes only by a request that
// names that person, and a refusal is a *review.AssignedError with who has it. Comments are only added. A discrepancy is resolved once, under
// the locks of its order and attempts; who resolves it in another way afterwards gets payment.ErrResolved. An assignment reserves nothing:
// a person resolves what another one has, unless the request expects an assignee.
//
// Each call is in the audit log: a change in its own transaction. Changed alone is not, which a page that is open calls every few seconds:
// it must be called only for what the same person has listed before, with an entry.
//
// What is settled is closed by the rules of review.Discrepancy.Settled, one for each kind, and off the path of payments: a turn looks at a
// portion of what is open without a lock, and only what seems settled is read again under the locks of its event, its order and its attempts,
// and closed in the same transaction. One process at a time has the turn. What one that lost it still closes is right all the same.
package worklist
