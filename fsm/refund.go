package fsm

// RefundState is where a refund stands. It is its own status: a refund has no
// stages.
type RefundState string

// The states of a refund.
const (
	// RefundPending refunds are on disk and perhaps with the provider.
	RefundPending RefundState = "pending"
	// RefundSucceeded refunds have moved the money. Final.
	RefundSucceeded RefundState = "succeeded"
	// RefundFailed refunds moved nothing. Final.
	RefundFailed RefundState = "failed"
)

// RefundStates lists the states of a refund.
func RefundStates() []RefundState {
	return []RefundState{RefundPending, RefundSucceeded, RefundFailed}
}

// Final reports whether no report can move s any more.
func (s RefundState) Final() bool { return s != RefundPending }

// RefundStep is the effect of a report on a refund.
type RefundStep struct {
	From, To RefundState
	Verdict  Verdict
}

// Moved reports whether the state changed.
func (s RefundStep) Moved() bool { return s.From != s.To }

// NextRefund returns the effect of a report on a refund in a state. It is total over RefundStates and
// the events that a refund can have: unknown, processing, action_required, succeeded and failed. Any
// other state is ErrState. Any other event is ErrEvent, including authorized, soft_failed, money and
// disputed. These are events of a payment: the caller has mistaken the payment for the refund, and a
// verdict would hide the payment's report. With an error the step does not move and has no verdict.
//
// A failure after the success is Applied although the state does not change: the
// provider took back the money that it had refunded. That is a new fact about the
// money.
func NextRefund(from RefundState, news Event) (RefundStep, error) {
	to, verdict, err := refunds.next(from, news)
	return RefundStep{From: from, To: to, Verdict: verdict}, err
}

var refunds = newMachine(RefundStates(),
	[]move[RefundState]{
		{EventSucceeded, []RefundState{RefundPending}, RefundSucceeded},
		{EventFailed, []RefundState{RefundPending}, RefundFailed},
	},
	[]still[RefundState]{
		{EventUnknown, Repeat, []RefundState{RefundPending}},
		{EventUnknown, Stale, []RefundState{RefundSucceeded, RefundFailed}},
		{EventProcessing, Repeat, []RefundState{RefundPending}},
		{EventProcessing, Stale, []RefundState{RefundSucceeded, RefundFailed}},
		{EventActionRequired, Repeat, []RefundState{RefundPending}},
		{EventActionRequired, Stale, []RefundState{RefundSucceeded, RefundFailed}},
		{EventSucceeded, Repeat, []RefundState{RefundSucceeded}},
		{EventSucceeded, Conflict, []RefundState{RefundFailed}},
		{EventFailed, Repeat, []RefundState{RefundFailed}},
		{EventFailed, Applied, []RefundState{RefundSucceeded}},
	})
