package fsm

// News is what somebody learnt about a payment or a refund, from whatever side:
// the answer to a call, a webhook, a check, a person.
type News string

// The news that there is.
const (
	// NewsUnknown says that a call may or may not have reached the provider.
	NewsUnknown News = "unknown"
	// NewsProcessing says that the provider has it and has not decided.
	NewsProcessing News = "processing"
	// NewsActionRequired says that the customer must act at the provider.
	NewsActionRequired News = "action_required"
	// NewsAuthorized says that the money is held and waits for a capture.
	NewsAuthorized News = "authorized"
	// NewsSucceeded says that the money was moved.
	NewsSucceeded News = "succeeded"
	// NewsSoftFailed says that one try at the provider failed while the same
	// payment may still succeed there.
	NewsSoftFailed News = "soft_failed"
	// NewsFailed says that it is over and no money was moved.
	NewsFailed News = "failed"
	// NewsReversed says that money which had been moved was moved back by the
	// provider: a failure after settlement, a capture or refund undone.
	NewsReversed News = "reversed"
	// NewsDisputed says that the cardholder disputes the payment.
	NewsDisputed News = "disputed"
)

// AllNews lists all news, in the order in which a payment usually has them.
func AllNews() []News {
	return []News{
		NewsUnknown, NewsProcessing, NewsActionRequired, NewsAuthorized, NewsSucceeded,
		NewsSoftFailed, NewsFailed, NewsReversed, NewsDisputed,
	}
}

// Verdict says what became of a piece of news.
type Verdict string

// The verdicts of the machine. A receiver has further ones for news that never
// reaches it (duplicate, unmatched, deferred, ignored).
const (
	// Applied news changed something: the state, or a fact beside it.
	Applied Verdict = "applied"
	// Repeat says what was already known.
	Repeat Verdict = "repeat"
	// Stale news is older than the state.
	Stale Verdict = "stale"
	// Conflict contradicts a final state where money is concerned: the state
	// stays, and a person must look.
	Conflict Verdict = "conflict"
)
