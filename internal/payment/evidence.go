package payment

import "context"

// Archive reads what was written, a portion at a time.
type Archive interface {
	// Evidence reads attempts in the order of their ids, each portion in one
	// snapshot of its own; it locks nothing. With alone it returns ErrBusy while
	// somebody else reads so.
	Evidence(ctx context.Context, after AttemptID, limit int, alone bool) ([]Evidence, error)
}

// Evidence is an attempt with all that was written about it, as one snapshot
// shows it.
type Evidence struct {
	Attempt Attempt
	// Scheduled says that the attempt will be looked at when its check is due.
	Scheduled bool
	// Order is what the order is for, Live how many of its attempts are pending or
	// paid.
	Order Money
	Live  int
	Log   []Transition
	// Refunds are the attempt's, Events those that were found to be about it: what
	// they say and their verdicts, nothing else of them.
	Refunds []Refund
	Events  []StoredEvent
	// Discrepancies are the kinds of those that were opened, resolved ones too.
	Discrepancies []DiscrepancyKind
}

// Difference is something that was written and does not follow from the rest.
type Difference struct {
	OrderID   OrderID   `json:"order_id"`
	AttemptID AttemptID `json:"payment_attempt_id"`
	// Check names the rule that does not hold.
	Check string `json:"check"`
	// Text says what was expected and what was found.
	Text string `json:"text"`
}
