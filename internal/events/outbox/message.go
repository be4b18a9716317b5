package outbox

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/payment"
)

// The types of events.
const (
	AttemptAuthorized   = "payment_attempt.authorized"
	AttemptSucceeded    = "payment_attempt.succeeded"
	AttemptFailed       = "payment_attempt.failed"
	AttemptUpdated      = "payment_attempt.updated"
	OrderPaid           = "order.paid"
	OrderCancelled      = "order.cancelled"
	RefundSucceeded     = "refund.succeeded"
	RefundFailed        = "refund.failed"
	DisputeOpened       = "dispute.opened"
	DisputeUpdated      = "dispute.updated"
	DisputeWon          = "dispute.won"
	DisputeLost         = "dispute.lost"
	DiscrepancyOpened   = "discrepancy.opened"
	DiscrepancyResolved = "discrepancy.resolved"
	SettlementRecorded  = "settlement.recorded"
	PayoutPaid          = "payout.paid"
	PayoutFailed        = "payout.failed"
	MethodUpdated       = "payment_method.updated"
	MethodRemoved       = "payment_method.removed"
)

// Types returns the types of events, in the order of the contract.
func Types() []string {
	return []string{
		AttemptAuthorized, AttemptSucceeded, AttemptFailed, AttemptUpdated, OrderPaid, OrderCancelled,
		RefundSucceeded, RefundFailed, DisputeOpened, DisputeUpdated, DisputeWon, DisputeLost, DiscrepancyOpened, DiscrepancyResolved,
		SettlementRecorded, PayoutPaid, PayoutFailed, MethodUpdated, MethodRemoved,
	}
}

// Message is an event for the merchant, written with the change that it is of.
type Message struct {
	// ID is derived from type, subject and version: an event that is written or sent again has the
	// same id.
	ID   uuid.UUID
	Type string
	// Subject is the id of the changed entity. Version counts the changes of the entity;
	// some changes are not published.
	Subject string
	Version int
	// OrderID is empty for an event without an order. AttemptID is the attempt with the timeline that
	// shows this publication; zero where a timeline shows the change itself.
	OrderID   payment.OrderID
	AttemptID payment.AttemptID
	// Payload is the subject as that version had it, as JSON.
	Payload []byte
	At      time.Time
}

// newMessage encodes an event of a subject. It panics for a payload that is no JSON: all are structs
// of this package.
func newMessage(kind, subject string, version int, at time.Time, payload any) Message {
	encoded, err := json.Marshal(payload)
	if err != nil {
		panic(fmt.Sprintf("encode %s of %s: %v", kind, subject, err))
	}
	id := uuid.NewSHA1(namespace, fmt.Appendf(nil, "%s %s %d", kind, subject, version))
	return Message{ID: id, Type: kind, Subject: subject, Version: version, Payload: encoded, At: at}
}

// namespace is that of the ids of events, a random UUID.
var namespace = uuid.MustParse("6b7f9a0e-4f57-4a3c-9d0f-5d8f6a1c2e94") //nolint:gochecknoglobals // a constant
