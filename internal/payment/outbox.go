package payment

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
)

// Message is news for the merchant, written with what it tells.
type Message struct {
	// ID is derived from type, attempt and version: news that is written or sent
	// again has the same id.
	ID      uuid.UUID
	Type    string
	Version int
	Payload []byte
}

// snapshot is the attempt as the message's version showed it.
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

// messages are the news in a change that a merchant acts on: an attempt that is
// authorised or final, and money that moves after that.
func (c *Change) messages() ([]Message, error) {
	var out []Message
	for _, t := range c.Transitions {
		name := messageType(t)
		if name == "" {
			continue
		}
		a := c.Attempt
		s := snapshot{
			PaymentAttemptID: a.ID.String(), OrderID: string(a.OrderID), UserID: string(a.UserID),
			Status: string(t.To.Status()), Stage: Attempt{State: t.To}.Stage(),
			Amount: a.Money.Minor, Currency: string(a.Money.Currency),
			AmountCaptured: max(0, t.Facts.Captured-t.Facts.Reversed), AmountRefunded: t.Facts.Refunded, AmountDisputed: max(0, t.Facts.Disputed),
			ProviderPaymentID: t.Facts.ProviderPaymentID, Version: t.Version, At: t.At,
		}
		if t.To == fsm.Failed && a.Failure != nil {
			s.FailureCode = a.Failure.Code
		}
		payload, err := json.Marshal(s)
		if err != nil {
			return nil, fmt.Errorf("encode news of %s: %w", a.ID, err)
		}
		out = append(out, Message{ID: messageID(name, a.ID, t.Version), Type: name, Version: t.Version, Payload: payload})
	}
	return out, nil
}

func messageType(t Transition) string {
	switch {
	case t.From == t.To && !t.To.Final():
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

func messageID(name string, id AttemptID, version int) uuid.UUID {
	return uuid.NewSHA1(uuid.UUID(id), fmt.Appendf(nil, "%s %d", name, version))
}
