package payment

import "time"

// Settlement is an entry of a provider's books for a movement: its cost and its payout. It moves no money. After it is
// stored, only an empty payout is ever filled.
type Settlement struct {
	Account string
	// EntryID is the provider's id of the entry; an account has it once.
	EntryID   string
	OrderID   OrderID
	AttemptID AttemptID
	Kind      MovementKind
	// MovementID is the provider's id of the movement; empty where the entry covers all movements of the kind of the
	// payment.
	MovementID, Payment string
	Money               Money
	// Fee is the provider's fee. Net is the change of the account's balance, negative where money was taken. Each is nil
	// where not stated.
	Fee, Net *Money
	// PayoutID is empty while it is in no payout.
	PayoutID string
	// At is the provider's clock, zero if it gave no time.
	At         time.Time
	RecordedAt time.Time
}
