// Package refundrequest has refunds that one member of staff requests and another one, an admin, approves.
//
//	Create ─► open ─► Approve: the approval and the refund, in one transaction ─► approved
//	            └───► Decline, by an admin or the requester ───────────────────► declined
//
// A request is approved if and only if it has its refund: the transaction that makes the refund and its operation decides the request as
// well, and the schema has no approved request without one. A process that dies before that commit leaves an open request; one that
// dies after it leaves a refund with its operation on disk, as any other refund's. The reconciler goes on with it, and so does approving
// again. Two approvals at once make one refund: the second finds the request decided, and what it did is undone.
//
// The refund is the approving admin's, by a key that is made of the request's id. A refund that can't be made leaves the request open.
package refundrequest
