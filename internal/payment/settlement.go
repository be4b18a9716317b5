package payment

import "time"

// Settlement is an entry of a provider's books with the movement that it is of: what that cost, and in which payout it is. It moves no
// money; of one that is stored only an empty payout is ever filled.
type Settlement struct {
	Account string
	// EntryID is the provider's id of the entry; an account has it once.
	EntryID   string
	OrderID   OrderID
	AttemptID AttemptID
	Kind      MovementKind
	// MovementID is the provider's id of the movement; empty where the entry is of all that was so moved of the payment.
	MovementID, Payment string
	Money               Money
	// Fee is what the provider kept, Net what was added to the balance of the account, negative where it was taken; nil where that is
	// not stated.
	Fee, Net *Money
	// PayoutID is empty while it is in no payout.
	PayoutID string
	// At is the provider's clock, zero if it gave no time.
	At         time.Time
	RecordedAt time.Time
}
