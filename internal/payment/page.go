package payment

import "github.com/paylatch/paylatch/fsm"

// On a page of the provider's a declined try is not the end: the customer may try again there. The attempt goes on
// waiting for its customer, with the reason as its failure, until it is paid, or fails with that reason: when the page
// expires or is closed by a cancel, which the order's next pay asks for as well. At no time may the customer be charged by
// two attempts: the next one is made once the provider has closed the page.

// TriesAgain reports whether a report is of a declined try that leaves the attempt as it is, since its customer may try
// again on the page. From the first cancel on that is no longer so: the page is to be closed, and a decline is one more
// reason to.
func (a *Attempt) TriesAgain(r Report) bool {
	declined := r.Says == fsm.NewsSoftFailed || r.Says == fsm.NewsFailed
	return declined && r.PageOpen && a.State == fsm.AwaitingCustomer && !a.CancelWanted()
}

// DeclinedOnPage reports whether a try was declined on the page where the attempt waits for its customer. Money may still
// come from there.
func (a Attempt) DeclinedOnPage() bool { return a.State == fsm.AwaitingCustomer && a.Failure != nil }

// declineTry keeps the reason of the last declined try, and that the page is open.
func (a *Attempt) declineTry(r Report) {
	a.PageOpen = true
	if r.Failure != nil && (a.Failure == nil || *a.Failure != *r.Failure) {
		a.Failure = r.Failure
	}
}
