package payment

import "github.com/paylatch/paylatch/fsm"

// On a provider's page a declined try is not the end: the customer may try again there. The attempt goes on waiting for
// its customer, with the reason as its failure, until it is paid or fails with that reason. It fails when the page
// expires or when a cancel closes the page. The order's next pay requests such a cancel as well. The customer must never
// be charged by two attempts, so the next attempt is made only after the provider has closed the page.

// TriesAgain reports whether a report is of a declined try that leaves the attempt as it is, since its customer may try
// again on the page. After the first cancel request a declined try no longer does: the page is to be closed, and a
// decline is one more reason to close it.
func (a *Attempt) TriesAgain(r Report) bool {
	declined := r.Event == fsm.EventSoftFailed || r.Event == fsm.EventFailed
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
