package payment

import (
	"strings"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/webhooks"
)

// Currency is an ISO 4217 code in upper case.
type Currency string

// Money is an amount in the currency's minor units (ISO 4217: JPY has no minor unit, KWD has 1000 per dinar).
type Money struct {
	Minor    int64
	Currency Currency
}

// String is the amount as people write it, with the digits of its currency: "19.99 EUR", "500 JPY".
func (m Money) String() string { return m.Wire().Text() }

// Wire is the amount as package webhooks has it.
func (m Money) Wire() webhooks.Money {
	return webhooks.Money{Minor: m.Minor, Currency: string(m.Currency)}
}

// ErasedPrefix begins the pseudonyms of customers whose names were erased.
const ErasedPrefix = "erased-"

// Erased reports whether the customer's name was erased.
func (u UserID) Erased() bool { return strings.HasPrefix(string(u), ErasedPrefix) }

// MaxAmount is the largest amount of an order in minor units. It is exact as a double in JSON.
const MaxAmount = 1_000_000_000_000

// The ids. An attempt's and a refund's are version 7 UUIDs (RFC 9562), an order's the merchant's.
type (
	// OrderID is the merchant's name of an order.
	OrderID string
	// UserID is the customer, as the merchant names them.
	UserID string
	// RequestID is the client's name of one intention: its idempotency key.
	RequestID string
	// AttemptID names an attempt; it is also our reference at the provider.
	AttemptID uuid.UUID
	// RefundID names a refund; it is also our reference at the provider.
	RefundID uuid.UUID
	// DisputeID names a dispute.
	DisputeID uuid.UUID
	// EventID names a stored provider event.
	EventID uuid.UUID
	// DiscrepancyID names a discrepancy.
	DiscrepancyID uuid.UUID
	// PayoutID names a payout.
	PayoutID uuid.UUID
)

// String returns the canonical form, 36 characters.
func (id AttemptID) String() string { return uuid.UUID(id).String() }

// MarshalText implements encoding.TextMarshaler.
func (id AttemptID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// String returns the canonical form, 36 characters.
func (id RefundID) String() string { return uuid.UUID(id).String() }

// String returns the canonical form, 36 characters.
func (id DisputeID) String() string { return uuid.UUID(id).String() }

// String returns the canonical form, 36 characters.
func (id EventID) String() string { return uuid.UUID(id).String() }

// String returns the canonical form, 36 characters.
func (id DiscrepancyID) String() string { return uuid.UUID(id).String() }

// String returns the canonical form, 36 characters.
func (id PayoutID) String() string { return uuid.UUID(id).String() }

// ParseAttemptID reads the canonical form. It returns ErrAttemptNotFound for anything else.
func ParseAttemptID(s string) (AttemptID, error) {
	id, err := uuid.Parse(s)
	if err != nil || len(s) != 36 {
		return AttemptID{}, ErrAttemptNotFound
	}
	return AttemptID(id), nil
}

// OwnAttemptID reads an attempt's id in the form that providers get, and reports whether it is one.
func OwnAttemptID(name string) (AttemptID, bool) {
	const version = 7
	id, err := ParseAttemptID(name)
	return id, err == nil && uuid.UUID(id).Version() == version && id.String() == name
}

// ParseRefundID is ParseAttemptID for refunds; it returns ErrRefundNotFound.
func ParseRefundID(s string) (RefundID, error) {
	id, err := uuid.Parse(s)
	if err != nil || len(s) != 36 {
		return RefundID{}, ErrRefundNotFound
	}
	return RefundID(id), nil
}

// ParseDisputeID is ParseAttemptID for disputes; it returns ErrDisputeNotFound.
func ParseDisputeID(s string) (DisputeID, error) {
	id, err := uuid.Parse(s)
	if err != nil || len(s) != 36 {
		return DisputeID{}, ErrDisputeNotFound
	}
	return DisputeID(id), nil
}

// ParsePayoutID is ParseAttemptID for payouts; it returns ErrPayoutNotFound.
func ParsePayoutID(s string) (PayoutID, error) {
	id, err := uuid.Parse(s)
	if err != nil || len(s) != 36 {
		return PayoutID{}, ErrPayoutNotFound
	}
	return PayoutID(id), nil
}

// ParseDiscrepancyID is ParseAttemptID for discrepancies; it returns ErrDiscrepancyNotFound.
func ParseDiscrepancyID(s string) (DiscrepancyID, error) {
	id, err := uuid.Parse(s)
	if err != nil || len(s) != 36 {
		return DiscrepancyID{}, ErrDiscrepancyNotFound
	}
	return DiscrepancyID(id), nil
}

// ParseEventID is ParseAttemptID for events; it returns ErrEventNotFound.
func ParseEventID(s string) (EventID, error) {
	id, err := uuid.Parse(s)
	if err != nil || len(s) != 36 {
		return EventID{}, ErrEventNotFound
	}
	return EventID(id), nil
}
