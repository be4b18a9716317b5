package webhooks

// Answer is what a merchant says to a question ([KindQuestion]): whether the
// provider may take a payment that the customer is about to make.
type Answer string

// The answers, in the order in which they should be considered.
const (
	// AnswerUnknown says that no such payment is expected.
	AnswerUnknown Answer = "unknown"
	// AnswerAmount says that the amount or the currency is another.
	AnswerAmount Answer = "amount"
	// AnswerExpired says that the payment is over: paid, failed or too late.
	AnswerExpired Answer = "expired"
	// AnswerRefuse says no for any other reason.
	AnswerRefuse Answer = "refuse"
	// AnswerAccept says that the payment may be taken.
	AnswerAccept Answer = "accept"
)

// Answerer is a verifier of a provider that asks before it takes money. The
// events of such a delivery are one [KindQuestion], which says by References and
// Money what the customer is about to pay. It is no news: nothing has happened
// yet, and the same question may come again. Whoever can look at the order
// chooses the answer; the [Verifier]'s Ack of a question refuses, because nobody
// has looked.
type Answerer interface {
	Verifier
	// Answer is the acknowledgement that gives the answer to a question; one that
	// is not known here refuses.
	Answer(d Delivery, a Answer) Ack
}
