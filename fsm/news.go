package fsm

// News is what a report states about a payment or a refund, from whatever side: the
// response to a call, a webhook, a lookup, a person.
type News string

// The values of News.
const (
	// NewsUnknown means that a call may or may not have reached the provider.
	NewsUnknown News = "unknown"
	// NewsProcessing means that the provider has it and has not decided.
	NewsProcessing News = "processing"
	// NewsActionRequired means that the customer must act at the provider.
	NewsActionRequired News = "action_required"
	// NewsAuthorized means that the money is held and waits for a capture.
	NewsAuthorized News = "authorized"
	// NewsSucceeded means that the money was moved.
	NewsSucceeded News = "succeeded"
	// NewsSoftFailed means that one try at the provider failed while the same
	// payment may still succeed there.
	NewsSoftFailed News = "soft_failed"
	// NewsFailed means that it is over and no money was moved.
	NewsFailed News = "failed"
	// NewsMoney leaves open how the payment stands: money was moved, in either
	// direction, after it was paid or had failed.
	NewsMoney News = "money"
	// NewsDisputed means that the cardholder disputes the payment.
	NewsDisputed News = "disputed"

	// NewsReopened and NewsProcessingAgain are of attempts alone, which derive them from their payments: the payment that
	// had come furthest has ended, and another one is open, or with the provider.
	NewsReopened        News = "reopened"
	NewsProcessingAgain News = "processing_again"
)

// AllNews lists all News that are reported, in the order in which a payment usually has them.
func AllNews() []News {
	return []News{
		NewsUnknown, NewsProcessing, NewsActionRequired, NewsAuthorized, NewsSucceeded,
		NewsSoftFailed, NewsFailed, NewsMoney, NewsDisputed,
	}
}

// AttemptNews lists all News of an attempt: those that are reported, and those that are derived from its payments.
func AttemptNews() []News { return append(AllNews(), NewsReopened, NewsProcessingAgain) }

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
