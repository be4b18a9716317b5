package fsm

// RefundState is where a refund stands. It is its own status: a refund has no
// stages.
type RefundState string

// The states of a refund.
const (
	// RefundPending refunds are on disk and perhaps with the provider.
	RefundPending RefundState = "pending"
	// RefundSucceeded refunds have paid the money back. Final.
	RefundSucceeded RefundState = "succeeded"
	// RefundFailed refunds paid nothing back. Final.
	RefundFailed RefundState = "failed"
)

// RefundStates lists the states of a refund.
func RefundStates() []RefundState {
	return []RefundState{RefundPending, RefundSucceeded, RefundFailed}
}

// Final reports whether no news can move s any more.
func (s RefundState) Final() bool { return s != RefundPending }

// RefundStep is what news does to a refund.
type RefundStep struct {
	From, To RefundState
	Verdict  Verdict
}

// Moved reports whether the state changed.
func (s RefundStep) Moved() bool { return s.From != s.To }

// NextRefund returns what news does to a refund in a state. It is total over
// RefundStates and the news that can be about a refund: unknown, processing,
// action_required, succeeded, failed and reversed. Any other state is ErrState.
// Any other news is ErrNews, also authorized, soft_failed and disputed: they
// speak of a payment, so whoever brings them here has taken one for the other,
// and a verdict would bury what was said about the payment. With an error the
// step does not move and has no verdict.
//
// A failure after the success is Applied although nothing moves: the provider
// took back what it had paid, which is a fact about the money and not about the
// past.
func NextRefund(from RefundState, news News) (RefundStep, error) {
	to, verdict, err := refunds.next(from, news)
	return RefundStep{From: from, To: to, Verdict: verdict}, err
}

var refunds = newMachine(RefundStates(),
	[]move[RefundState]{
		{NewsSucceeded, []RefundState{RefundPending}, RefundSucceeded},
		{NewsFailed, []RefundState{RefundPending}, RefundFailed},
	},
	[]still[RefundState]{
		{NewsUnknown, Repeat, []RefundState{RefundPending}},
		{NewsUnknown, Stale, []RefundState{RefundSucceeded, RefundFailed}},
		{NewsProcessing, Repeat, []RefundState{RefundPending}},
		{NewsProcessing, Stale, []RefundState{RefundSucceeded, RefundFailed}},
		{NewsActionRequired, Repeat, []RefundState{RefundPending}},
		{NewsActionRequired, Stale, []RefundState{RefundSucceeded, RefundFailed}},
		{NewsSucceeded, Repeat, []RefundState{RefundSucceeded}},
		{NewsSucceeded, Conflict, []RefundState{RefundFailed}},
		{NewsFailed, Repeat, []RefundState{RefundFailed}},
		{NewsFailed, Applied, []RefundState{RefundSucceeded}},
		{NewsReversed, Applied, RefundStates()},
	})
