package outbox

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// Message is an update for the merchant, written with the transition that it is of.
type Message struct {
	// ID is derived from type, attempt and version: an update that is written or sent
	// again has the same id.
	ID      uuid.UUID
	Type    string
	Version int
	Payload []byte
}

// snapshot is the attempt as the message's version had it.
type snapshot struct {
	PaymentAttemptID  string    `json:"payment_attempt_id"`
	OrderID           string    `json:"order_id"`
	UserID            string    `json:"user_id"`
	Status            string    `json:"status"`
	Stage             string    `json:"stage"`
	Amount            int64     `json:"amount"`
	Currency          string    `json:"currency"`
	AmountCaptured    int64     `json:"amount_captured"`
	AmountRefunded    int64     `json:"amount_refunded"`
	AmountDisputed    int64     `json:"amount_disputed"`
	ProviderPaymentID string    `json:"provider_payment_id"`
	FailureCode       string    `json:"failure_code,omitempty"`
	Version           int       `json:"version"`
	At                time.Time `json:"at"`
}

// Messages are the updates of an attempt's transitions that a merchant acts on: it is
// authorized or final, or money moves after that. An import makes none.
func Messages(a *payment.Attempt, transitions []payment.Transition) ([]Message, error) {
	var out []Message
	for _, t := range transitions {
		name := messageType(t)
		if name == "" {
			continue
		}
		s := snapshot{
			PaymentAttemptID: a.ID.String(), OrderID: string(a.OrderID), UserID: string(a.UserID),
			Status: string(t.To.Status()), Stage: payment.Attempt{State: t.To}.Stage(), Amount: a.Money.Minor, Currency: string(a.Money.Currency),
			AmountCaptured: max(0, t.Facts.Captured), AmountRefunded: max(0, t.Facts.Refunded), AmountDisputed: max(0, t.Facts.Disputed),
			ProviderPaymentID: t.Facts.ProviderPaymentID, Version: t.Version, At: t.At,
		}
		if t.To == fsm.Failed && a.Failure != nil {
			s.FailureCode = a.Failure.Code
		}
		payload, err := json.Marshal(s)
		if err != nil {
			return nil, fmt.Errorf("encode an update of %s: %w", a.ID, err)
		}
		id := uuid.NewSHA1(uuid.UUID(a.ID), fmt.Appendf(nil, "%s %d", name, t.Version))
		out = append(out, Message{ID: id, Type: name, Version: t.Version, Payload: payload})
	}
	return out, nil
}

func messageType(t payment.Transition) string {
	switch {
	case t.Quiet, t.From == t.To && !t.To.Final(), t.Cause.Kind == payment.CauseImport:
		return ""
	case t.From == t.To:
		return "payment_attempt.updated"
	case t.To.Final():
		return "payment_attempt." + string(t.To.Status())
	case t.To == fsm.Authorized:
		return "payment_attempt.authorized"
	}
	return ""
}
