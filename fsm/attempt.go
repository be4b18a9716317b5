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

// Next returns the effect of a report on an attempt in a state. It is total over States and AttemptNews: an
// error means that an argument is neither (ErrState, ErrNews), and then the step does not move and
// has no verdict.
func Next(from State, news News) (Step, error) {
	to, verdict, err := attempts.next(from, news)
	return Step{From: from, To: to, Verdict: verdict}, err
}

var (
	pending = []State{Requested, OutcomeUnknown, Processing, AwaitingCustomer, Authorized}
	final   = []State{Succeeded, Failed}

	attempts = newMachine(States(),
		[]move[State]{
			{NewsUnknown, []State{Requested}, OutcomeUnknown},
			{NewsProcessing, []State{Requested, OutcomeUnknown}, Processing},
			{NewsActionRequired, []State{Requested, OutcomeUnknown, Processing}, AwaitingCustomer},
			{NewsAuthorized, []State{Requested, OutcomeUnknown, Processing, AwaitingCustomer}, Authorized},
			{NewsSucceeded, pending, Succeeded},
			{NewsFailed, pending, Failed},
			{NewsReopened, []State{Authorized}, AwaitingCustomer},
			{NewsProcessingAgain, []State{AwaitingCustomer, Authorized}, Processing},
		},
		[]still[State]{
			{NewsUnknown, Repeat, []State{OutcomeUnknown}},
			{NewsUnknown, Stale, []State{Processing, AwaitingCustomer, Authorized, Succeeded, Failed}},
			{NewsProcessing, Repeat, []State{Processing}},
			{NewsProcessing, Stale, []State{AwaitingCustomer, Authorized, Succeeded, Failed}},
			{NewsActionRequired, Repeat, []State{AwaitingCustomer}},
			{NewsActionRequired, Stale, []State{Authorized, Succeeded, Failed}},
			{NewsAuthorized, Repeat, []State{Authorized}},
			{NewsAuthorized, Stale, final},
			{NewsSucceeded, Repeat, []State{Succeeded}},
			{NewsSucceeded, Conflict, []State{Failed}},
			{NewsSoftFailed, Applied, pending},
			{NewsSoftFailed, Stale, final},
			{NewsFailed, Repeat, []State{Failed}},
			{NewsFailed, Stale, []State{Succeeded}},
			{NewsMoney, Applied, States()},
			{NewsDisputed, Applied, States()},
			{NewsReopened, Repeat, []State{AwaitingCustomer}},
			{NewsReopened, Stale, []State{Requested, OutcomeUnknown, Processing, Succeeded, Failed}},
			{NewsProcessingAgain, Repeat, []State{Processing}},
			{NewsProcessingAgain, Stale, []State{Requested, OutcomeUnknown, Succeeded, Failed}},
		})
)
