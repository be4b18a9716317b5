package fsm

// Event is the statement of a report about a payment or a refund. The report is the response to a call, a webhook, a lookup or the
// decision of a person.
type Event string

// The values of Event.
const (
	// EventUnknown means that a call may or may not have reached the provider.
	EventUnknown Event = "unknown"
	// EventProcessing means that the provider has it and has not decided.
	EventProcessing Event = "processing"
	// EventActionRequired means that the customer must act at the provider.
	EventActionRequired Event = "action_required"
	// EventAuthorized means that the money is held and waits for a capture.
	EventAuthorized Event = "authorized"
	// EventSucceeded means that the money was moved.
	EventSucceeded Event = "succeeded"
	// EventSoftFailed means that one try at the provider failed while the same
	// payment may still succeed there.
	EventSoftFailed Event = "soft_failed"
	// EventFailed means that it is over and no money was moved.
	EventFailed Event = "failed"
	// EventMoney leaves open how the payment stands: money was moved, in either
	// direction, after it was paid or had failed.
	EventMoney Event = "money"
	// EventDisputed means that the cardholder disputes the payment.
	EventDisputed Event = "disputed"

	// EventReopened and EventProcessingAgain are of attempts alone, which derive them from their payments: the payment that
	// had come furthest has ended, and another one is open, or with the provider.
	EventReopened        Event = "reopened"
	EventProcessingAgain Event = "processing_again"
)

// Events lists all reported events, in the order in which a payment usually has them.
func Events() []Event {
	return []Event{
		EventUnknown, EventProcessing, EventActionRequired, EventAuthorized, EventSucceeded,
		EventSoftFailed, EventFailed, EventMoney, EventDisputed,
	}
}

// AttemptEvents lists all events of an attempt: the reported ones, and the ones that are derived from its payments.
func AttemptEvents() []Event { return append(Events(), EventReopened, EventProcessingAgain) }

// Verdict is the result of a report.
type Verdict string

// The verdicts of the machine. A receiver has further ones for reports that never reach it
// (duplicate, unmatched, deferred, foreign, ignored).
const (
	// Applied reports changed something: the state, or a fact beside it.
	Applied Verdict = "applied"
	// Repeat reports are recorded already.
	Repeat Verdict = "repeat"
	// Stale reports are older than the state.
	Stale Verdict = "stale"
	// Conflict contradicts a final state where money is concerned: the state
	// stays, and a person must look.
	Conflict Verdict = "conflict"
)
