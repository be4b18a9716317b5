package payment

import "github.com/paylatch/paylatch/internal/idempotency"

// View is an attempt with what its order says beside it.
type View struct {
	Attempt
	// CanStartNew says that a page may offer to pay again: this attempt failed,
	// the order is open, and no attempt of it holds money.
	CanStartNew bool
}

func view(a Attempt, o Order) View {
	return View{Attempt: a, CanStartNew: a.Failed() && o.TakesPay() == nil}
}

// Views are the order's attempts, each with what the order says beside it.
func (o Order) Views() []View {
	views := make([]View, len(o.Attempts))
	for i, a := range o.Attempts {
		views[i] = view(a, o)
	}
	return views
}

// Reply answers a command on an attempt: a pay, a confirm or a cancel.
type Reply struct {
	View
	Result idempotency.Result
	// TookOver says that an earlier runner left the command unanswered and this
	// request went on with it.
	TookOver bool
}
