package fsm

// PaymentState is where one payment at the provider stands. An attempt may have several payments, and its own state is
// derived from theirs.
type PaymentState string

// The states of a payment.
const (
	// PaymentNamed payments have an id, and the provider has not reported yet how they stand.
	PaymentNamed PaymentState = "named"
	// PaymentOpen payments wait for their customer. The customer may never come.
	PaymentOpen PaymentState = "open"
	// PaymentProcessing payments are with the provider, which has not decided: a debit under way.
	PaymentProcessing PaymentState = "processing"
	// PaymentAuthorized payments hold the customer's money until it is captured.
	PaymentAuthorized PaymentState = "authorized"
	// PaymentCaptured payments have taken money.
	PaymentCaptured PaymentState = "captured"
	// PaymentFailed payments are over without money. The provider may be wrong about it: money that is reported later moves
	// them all the same.
	PaymentFailed PaymentState = "failed"
)

// PaymentStates lists the states of a payment in the order of a usual life.
func PaymentStates() []PaymentState {
	return []PaymentState{PaymentNamed, PaymentOpen, PaymentProcessing, PaymentAuthorized, PaymentCaptured, PaymentFailed}
}

// Live reports whether the payment may still take or hold money.
func (s PaymentState) Live() bool { return s != PaymentCaptured && s != PaymentFailed }

// PaymentStep is the effect of a report on a payment.
type PaymentStep struct {
	From, To PaymentState
	Verdict  Verdict
}

// Moved reports whether the state changed.
func (s PaymentStep) Moved() bool { return s.From != s.To }

// NextPayment returns the effect of a report on a payment in a state. It is total over PaymentStates and the events of a
// payment; EventReopened and EventProcessingAgain are of attempts alone: they are ErrEvent, as is any unknown event. Any
// unknown state is ErrState.
func NextPayment(from PaymentState, news Event) (PaymentStep, error) {
	to, verdict, err := paymentsOf.next(from, news)
	return PaymentStep{From: from, To: to, Verdict: verdict}, err
}

var (
	untaken = []PaymentState{PaymentNamed, PaymentOpen, PaymentProcessing, PaymentAuthorized}

	paymentsOf = newMachine(PaymentStates(),
		[]move[PaymentState]{
			{EventProcessing, []PaymentState{PaymentNamed, PaymentOpen}, PaymentProcessing},
			{EventActionRequired, []PaymentState{PaymentNamed, PaymentProcessing}, PaymentOpen},
			{EventSoftFailed, []PaymentState{PaymentProcessing}, PaymentOpen},
			{EventAuthorized, []PaymentState{PaymentNamed, PaymentOpen, PaymentProcessing, PaymentFailed}, PaymentAuthorized},
			{EventSucceeded, []PaymentState{PaymentNamed, PaymentOpen, PaymentProcessing, PaymentAuthorized, PaymentFailed}, PaymentCaptured},
			{EventFailed, untaken, PaymentFailed},
		},
		[]still[PaymentState]{
			{EventUnknown, Stale, PaymentStates()},
			{EventProcessing, Repeat, []PaymentState{PaymentProcessing}},
			{EventProcessing, Stale, []PaymentState{PaymentAuthorized, PaymentCaptured, PaymentFailed}},
			{EventActionRequired, Repeat, []PaymentState{PaymentOpen}},
			{EventActionRequired, Stale, []PaymentState{PaymentAuthorized, PaymentCaptured, PaymentFailed}},
			{EventSoftFailed, Applied, []PaymentState{PaymentNamed, PaymentOpen, PaymentAuthorized}},
			{EventSoftFailed, Stale, []PaymentState{PaymentCaptured, PaymentFailed}},
			{EventAuthorized, Repeat, []PaymentState{PaymentAuthorized}},
			{EventAuthorized, Stale, []PaymentState{PaymentCaptured}},
			{EventSucceeded, Repeat, []PaymentState{PaymentCaptured}},
			{EventFailed, Repeat, []PaymentState{PaymentFailed}},
			{EventFailed, Stale, []PaymentState{PaymentCaptured}},
			{EventMoney, Applied, PaymentStates()},
			{EventDisputed, Applied, PaymentStates()},
		})
)

// PaymentRow is the effect of one report on a payment in one state.
type PaymentRow struct {
	Event Event
	PaymentStep
}

// PaymentTable lists the results of NextPayment, ordered as Table is. An event that a payment does not have has no row.
func PaymentTable() []PaymentRow {
	var rows []PaymentRow
	for _, from := range PaymentStates() {
		for _, news := range Events() {
			if step, err := NextPayment(from, news); err == nil {
				rows = append(rows, PaymentRow{Event: news, PaymentStep: step})
			}
		}
	}
	return rows
}

// PaymentMermaid draws the moves of a payment as Mermaid does those of an attempt.
func PaymentMermaid() string { return paymentsOf.mermaid() }
