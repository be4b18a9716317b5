package fsm

// OperationState is where an operation stands: one thing that is wanted from a
// provider (a charge, a capture, a cancellation, a refund, a check).
type OperationState string

// The states of an operation.
const (
	// OperationWanted operations are to be done; not a byte of them was sent.
	OperationWanted OperationState = "wanted"
	// OperationSent operations have a permit: bytes may be on their way.
	OperationSent OperationState = "sent"
	// OperationUnknown operations were sent, and whether they arrived is unknown.
	OperationUnknown OperationState = "unknown"
	// OperationAccepted operations are with the provider; their effect is yet to be
	// reported.
	OperationAccepted OperationState = "accepted"
	// OperationDone operations had their effect, or no longer need one. Final.
	OperationDone OperationState = "done"
	// OperationRefused operations got a definitive no. Final.
	OperationRefused OperationState = "refused"
	// OperationNotSent operations never reached the provider. Final.
	OperationNotSent OperationState = "not_sent"
	// OperationWithdrawn operations are no longer wanted. Final.
	OperationWithdrawn OperationState = "withdrawn"
)

// OperationStates lists the states of an operation in the order of a usual life.
func OperationStates() []OperationState {
	return []OperationState{
		OperationWanted, OperationSent, OperationUnknown, OperationAccepted,
		OperationDone, OperationRefused, OperationNotSent, OperationWithdrawn,
	}
}

// Open reports whether the operation may still have an effect, or must be looked at.
func (s OperationState) Open() bool {
	switch s {
	case OperationWanted, OperationSent, OperationUnknown, OperationAccepted:
		return true
	case OperationDone, OperationRefused, OperationNotSent, OperationWithdrawn:
	}
	return false
}

// Unanswered reports whether the provider may not have it: it may yet be sent, or sent again.
func (s OperationState) Unanswered() bool {
	return s == OperationWanted || s == OperationSent || s == OperationUnknown
}

// OperationEvent is something that happens to an operation.
type OperationEvent string

// The events of an operation.
const (
	// OperationSend is a permit to send, given with the lease.
	OperationSend OperationEvent = "send"
	// OperationAsk is a permit to look up, and nothing else.
	OperationAsk OperationEvent = "ask"
	// OperationRestore undoes a permit to send: not a byte of it was sent.
	OperationRestore OperationEvent = "restore"
	// OperationLose means that a call ended without an answer.
	OperationLose OperationEvent = "lose"
	// OperationAccept means that the provider has it.
	OperationAccept OperationEvent = "accept"
	// OperationFinish means that its effect was reported, or is not needed.
	OperationFinish OperationEvent = "finish"
	// OperationRefuse means that the provider does not carry it out.
	OperationRefuse OperationEvent = "refuse"
	// OperationMiss means that it never reached the provider.
	OperationMiss OperationEvent = "miss"
	// OperationWithdraw means that it is no longer wanted and was not sent.
	OperationWithdraw OperationEvent = "withdraw"
)

// OperationEvents lists the events of an operation.
func OperationEvents() []OperationEvent {
	return []OperationEvent{
		OperationSend, OperationAsk, OperationRestore, OperationLose, OperationAccept,
		OperationFinish, OperationRefuse, OperationMiss, OperationWithdraw,
	}
}

// OperationStep is the effect of an event on an operation. Verdict is Applied where it
// moves, Repeat where the operation is there already, and Stale where it came too late.
type OperationStep struct {
	From, To OperationState
	Verdict  Verdict
}

// Moved reports whether the state changed.
func (s OperationStep) Moved() bool { return s.From != s.To }

// NextOperation returns the effect of an event on an operation in a state. It is total
// over OperationStates and OperationEvents, except for forbidden pairs: an operation
// that may have been sent is never withdrawn, and an unsent operation is neither lost
// nor accepted. A forbidden pair returns ErrEvent, and so does an undefined event. Any
// other state returns ErrState.
func NextOperation(from OperationState, event OperationEvent) (OperationStep, error) {
	to, verdict, err := operations.next(from, Event(event))
	return OperationStep{From: from, To: to, Verdict: verdict}, err
}

var (
	unsure    = []OperationState{OperationSent, OperationUnknown, OperationAccepted}
	opened    = []OperationState{OperationWanted, OperationSent, OperationUnknown, OperationAccepted}
	closedOps = []OperationState{OperationDone, OperationRefused, OperationNotSent, OperationWithdrawn}

	operations = newMachine(OperationStates(), operationMoves(), operationStills())
)

func operationMoves() []move[OperationState] {
	return []move[OperationState]{
		{Event(OperationSend), []OperationState{OperationWanted, OperationUnknown, OperationAccepted}, OperationSent},
		{Event(OperationAsk), []OperationState{OperationSent}, OperationUnknown},
		{Event(OperationRestore), []OperationState{OperationSent}, OperationWanted},
		{Event(OperationLose), []OperationState{OperationSent}, OperationUnknown},
		{Event(OperationAccept), []OperationState{OperationSent, OperationUnknown}, OperationAccepted},
		{Event(OperationFinish), opened, OperationDone},
		{Event(OperationRefuse), opened, OperationRefused},
		{Event(OperationMiss), unsure, OperationNotSent},
		{Event(OperationWithdraw), []OperationState{OperationWanted}, OperationWithdrawn},
	}
}

func operationStills() []still[OperationState] {
	stills := []still[OperationState]{
		{Event(OperationSend), Applied, []OperationState{OperationSent}},
		{Event(OperationAsk), Applied, []OperationState{OperationWanted, OperationUnknown, OperationAccepted}},
		{Event(OperationRestore), Repeat, []OperationState{OperationWanted}},
		{Event(OperationLose), Repeat, []OperationState{OperationUnknown, OperationAccepted}},
		{Event(OperationAccept), Repeat, []OperationState{OperationAccepted}},
	}
	for _, event := range OperationEvents() {
		stills = append(stills, still[OperationState]{Event(event), Stale, closedOps})
	}
	return stills
}

// OperationRow is the effect of one event on an operation in one state.
type OperationRow struct {
	Event OperationEvent
	OperationStep
}

// OperationTable lists the results of NextOperation, by state, then by event. A forbidden pair has
// no row.
func OperationTable() []OperationRow {
	var rows []OperationRow
	for _, from := range OperationStates() {
		for _, event := range OperationEvents() {
			if step, err := NextOperation(from, event); err == nil {
				rows = append(rows, OperationRow{Event: event, OperationStep: step})
			}
		}
	}
	return rows
}

// OperationMermaid draws the moves of an operation as Mermaid does those of an attempt.
func OperationMermaid() string { return operations.mermaid() }
