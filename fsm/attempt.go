package fsm

// State is where a payment attempt stands.
type State string

// The states of an attempt, in the order of their rank.
const (
	// Requested attempts are on disk; the provider has not answered yet.
	Requested State = "requested"
	// OutcomeUnknown attempts were sent, and whether they arrived is unknown.
	OutcomeUnknown State = "outcome_unknown"
	// Processing attempts are with the provider, which has not decided.
	Processing State = "processing"
	// AwaitingCustomer attempts wait for the customer to act at the provider.
	AwaitingCustomer State = "awaiting_customer"
	// Authorized attempts hold the customer's money until it is captured.
	Authorized State = "authorized"
	// Succeeded attempts have been paid. Final.
	Succeeded State = "succeeded"
	// Failed attempts are over without a payment. Final.
	Failed State = "failed"
)

// States lists the states of an attempt in the order of their rank.
func States() []State {
	return []State{Requested, OutcomeUnknown, Processing, AwaitingCustomer, Authorized, Succeeded, Failed}
}

// Status is the coarse state that a merchant's code decides by: it changes
// once, from pending to one of the others.
type Status string

// The statuses of an attempt.
const (
	StatusPending   Status = "pending"
	StatusSucceeded Status = "succeeded"
	StatusFailed    Status = "failed"
)

// Status returns the coarse state of s.
func (s State) Status() Status {
	switch s {
	case Succeeded:
		return StatusSucceeded
	case Failed:
		return StatusFailed
	case Requested, OutcomeUnknown, Processing, AwaitingCustomer, Authorized:
	}
	return StatusPending
}

// Final reports whether no report can move s any more.
func (s State) Final() bool { return s == Succeeded || s == Failed }

// Step is the effect of a report on an attempt.
type Step struct {
	From, To State
	Verdict  Verdict
}

// Moved reports whether the state changed.
func (s Step) Moved() bool { return s.From != s.To }

// Next returns the effect of a report on an attempt in a state. It is total over States and AttemptEvents: an
// error means that an argument is neither (ErrState, ErrEvent), and then the step does not move and
// has no verdict.
func Next(from State, news Event) (Step, error) {
	to, verdict, err := attempts.next(from, news)
	return Step{From: from, To: to, Verdict: verdict}, err
}

var (
	pending = []State{Requested, OutcomeUnknown, Processing, AwaitingCustomer, Authorized}
	final   = []State{Succeeded, Failed}

	attempts = newMachine(States(),
		[]move[State]{
			{EventUnknown, []State{Requested}, OutcomeUnknown},
			{EventProcessing, []State{Requested, OutcomeUnknown}, Processing},
			{EventActionRequired, []State{Requested, OutcomeUnknown, Processing}, AwaitingCustomer},
			{EventAuthorized, []State{Requested, OutcomeUnknown, Processing, AwaitingCustomer}, Authorized},
			{EventSucceeded, pending, Succeeded},
			{EventFailed, pending, Failed},
			{EventReopened, []State{Authorized}, AwaitingCustomer},
			{EventProcessingAgain, []State{AwaitingCustomer, Authorized}, Processing},
		},
		[]still[State]{
			{EventUnknown, Repeat, []State{OutcomeUnknown}},
			{EventUnknown, Stale, []State{Processing, AwaitingCustomer, Authorized, Succeeded, Failed}},
			{EventProcessing, Repeat, []State{Processing}},
			{EventProcessing, Stale, []State{AwaitingCustomer, Authorized, Succeeded, Failed}},
			{EventActionRequired, Repeat, []State{AwaitingCustomer}},
			{EventActionRequired, Stale, []State{Authorized, Succeeded, Failed}},
			{EventAuthorized, Repeat, []State{Authorized}},
			{EventAuthorized, Stale, final},
			{EventSucceeded, Repeat, []State{Succeeded}},
			{EventSucceeded, Conflict, []State{Failed}},
			{EventSoftFailed, Applied, pending},
			{EventSoftFailed, Stale, final},
			{EventFailed, Repeat, []State{Failed}},
			{EventFailed, Stale, []State{Succeeded}},
			{EventMoney, Applied, States()},
			{EventDisputed, Applied, States()},
			{EventReopened, Repeat, []State{AwaitingCustomer}},
			{EventReopened, Stale, []State{Requested, OutcomeUnknown, Processing, Succeeded, Failed}},
			{EventProcessingAgain, Repeat, []State{Processing}},
			{EventProcessingAgain, Stale, []State{Requested, OutcomeUnknown, Succeeded, Failed}},
		})
)
