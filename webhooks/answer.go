package webhooks

// Answer is a merchant's decision about a question ([KindQuestion]): whether the provider may take a payment that the
// customer is about to make.
type Answer string

// The answers, in the order in which they should be considered.
const (
	// AnswerUnknown means that no such payment is expected.
	AnswerUnknown Answer = "unknown"
	// AnswerAmount means that the amount or the currency is another.
	AnswerAmount Answer = "amount"
	// AnswerExpired means that the payment is over: paid, failed or too late.
	AnswerExpired Answer = "expired"
	// AnswerRefuse refuses for any other reason.
	AnswerRefuse Answer = "refuse"
	// AnswerAccept means that the payment may be taken.
	AnswerAccept Answer = "accept"
)

// Answerer is a verifier of a provider that needs a decision before it takes money. The events of such a delivery are
// one [KindQuestion]. Its References and Money describe the intended payment. Nothing has happened yet, and the
// same question may come again. The [Verifier]'s Ack of a question refuses, because it has not seen the order.
type Answerer interface {
	Verifier
	// Answer is the acknowledgement that carries the answer to a question; an unfamiliar one refuses.
	Answer(d Delivery, a Answer) Ack
}
