// Package refundrequest has refunds that support requests and an admin, another person, approves.
//
//	Create ─► open ─► Approve: the approval and the refund, in one transaction ─► approved
//	            └───► Decline, by an admin or the requester ───────────────────► declined
//
// A request is approved if and only if it has its refund. The transaction that makes the refund and its operation
// decides the request as well, and the schema allows no approved request without a refund. A process that dies before
// that commit leaves an open request. A process that dies after it leaves a refund with its operation on disk, like any
// other refund. The reconciler continues that refund, and so does a second approval. Two concurrent approvals make one
// refund: the second finds the request decided, and its own changes are rolled back.
//
// The approving admin makes the refund, under a key that is derived from the request's id. If the refund can't be made,
// the request stays open.
package refundrequest
