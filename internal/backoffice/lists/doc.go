// Package lists reads orders, attempts, refunds and other lists by filters. The lists are orders, attempts, refunds,
// disputes, settlements, payouts and reconciliations, a page at a time, newest first.
//
// A page begins behind a place, the time of creation and the id of the last item before it. Neither ever changes, so that no item is
// passed over or comes twice while others are added or change. Pages read at different times show items as they were then.
package lists
