package payment

import (
	"time"

	"github.com/google/uuid"
)

// Settlement is an entry of a provider's books for a movement: its cost and its payout. It moves no money. After it is
// stored, only an empty payout, fee or net is ever filled.
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
	// PayoutID is the provider's id of the payout, empty while it is in no payout. Payout is our id, zero where it was not read.
	PayoutID string
	Payout   PayoutID
	// At is the provider's clock, zero if it gave no time.
	At         time.Time
	RecordedAt time.Time
}

// SettlementID names a settlement. It is derived from the account and the entry's id.
type SettlementID uuid.UUID

// String returns the canonical form, 36 characters.
func (id SettlementID) String() string { return uuid.UUID(id).String() }

// ID is the id of the settlement.
func (s Settlement) ID() SettlementID { return settlementID(s.Account, s.EntryID) }

// BookedAt is the provider's time of the entry, or the time at which it was recorded. It never changes.
func (s Settlement) BookedAt() time.Time {
	if s.At.IsZero() {
		return s.RecordedAt
	}
	return s.At
}

// BalanceCurrency is the currency of Fee and Net, empty where neither is stated.
func (s Settlement) BalanceCurrency() Currency {
	switch {
	case s.Net != nil:
		return s.Net.Currency
	case s.Fee != nil:
		return s.Fee.Currency
	}
	return ""
}
