package fsm

// PaymentState is where one payment at the provider stands. An attempt may have several payments, and its own state is
// derived from theirs.
type PaymentState string

// The states of a payment.
const (
	// PaymentNamed payments have an id, and the provider has not reported yet how they stand.
	PaymentNamed PaymentState = "named"
	// PaymentOpen payments wait for their customer, who may never come.
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

// NextPayment returns the effect of a report on a payment in a state. It is total over PaymentStates and the News of a
// payment; NewsReopened and NewsProcessingAgain are of attempts alone: they are ErrNews, as is any unknown News. Any
// unknown state is ErrState.
func NextPayment(from PaymentState, news News) (PaymentStep, error) {
	to, verdict, err := paymentsOf.next(from, news)
	return PaymentStep{From: from, To: to, Verdict: verdict}, err
}

var (
	untaken = []PaymentState{PaymentNamed, PaymentOpen, PaymentProcessing, PaymentAuthorized}

	paymentsOf = newMachine(PaymentStates(),
		[]move[PaymentState]{
			{NewsProcessing, []PaymentState{PaymentNamed, PaymentOpen}, PaymentProcessing},
			{NewsActionRequired, []PaymentState{PaymentNamed, PaymentProcessing}, PaymentOpen},
			{NewsSoftFailed, []PaymentState{PaymentProcessing}, PaymentOpen},
			{NewsAuthorized, []PaymentState{PaymentNamed, PaymentOpen, PaymentProcessing, PaymentFailed}, PaymentAuthorized},
			{NewsSucceeded, []PaymentState{PaymentNamed, PaymentOpen, PaymentProcessing, PaymentAuthorized, PaymentFailed}, PaymentCaptured},
			{NewsFailed, untaken, PaymentFailed},
		},
		[]still[PaymentState]{
			{NewsUnknown, Stale, PaymentStates()},
			{NewsProcessing, Repeat, []PaymentState{PaymentProcessing}},
			{NewsProcessing, Stale, []PaymentState{PaymentAuthorized, PaymentCaptured, PaymentFailed}},
			{NewsActionRequired, Repeat, []PaymentState{PaymentOpen}},
			{NewsActionRequired, Stale, []PaymentState{PaymentAuthorized, PaymentCaptured, PaymentFailed}},
			{NewsSoftFailed, Applied, []PaymentState{PaymentNamed, PaymentOpen, PaymentAuthorized}},
			{NewsSoftFailed, Stale, []PaymentState{PaymentCaptured, PaymentFailed}},
			{NewsAuthorized, Repeat, []PaymentState{PaymentAuthorized}},
			{NewsAuthorized, Stale, []PaymentState{PaymentCaptured}},
			{NewsSucceeded, Repeat, []PaymentState{PaymentCaptured}},
			{NewsFailed, Repeat, []PaymentState{PaymentFailed}},
			{NewsFailed, Stale, []PaymentState{PaymentCaptured}},
			{NewsMoney, Applied, PaymentStates()},
			{NewsDisputed, Applied, PaymentStates()},
		})
)

// PaymentRow is the effect of one report on a payment in one state.
type PaymentRow struct {
	News News
	PaymentStep
}

// PaymentTable lists the results of NextPayment, ordered as Table is. News that a payment does not have has no row.
func PaymentTable() []PaymentRow {
	var rows []PaymentRow
	for _, from := range PaymentStates() {
		for _, news := range AllNews() {
			if step, err := NextPayment(from, news); err == nil {
				rows = append(rows, PaymentRow{News: news, PaymentStep: step})
			}
		}
	}
	return rows
}

// PaymentMermaid draws the moves of a payment as Mermaid does those of an attempt.
func PaymentMermaid() string { return paymentsOf.mermaid() }
