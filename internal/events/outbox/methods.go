package outbox

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/paylatch/paylatch/internal/payment"
)

// method is a stored payment method that its provider has changed or removed. The ids are of the attempt that stored it, null for a
// method that was stored elsewhere.
type method struct {
	Account          string  `json:"account"`
	UserID           *string `json:"user_id"`
	OrderID          *string `json:"order_id"`
	PaymentAttemptID *string `json:"payment_attempt_id"`
	Saved            *saved  `json:"saved_payment_method"`
	Version          int     `json:"version"`
	UpdatedAt        stamp   `json:"updated_at"`
}

// Method publishes a change of a stored payment method by its provider. A method that can be charged again counts as updated.
func Method(m payment.StoredMethod) Message {
	kind := MethodUpdated
	if m.RemovedAt != nil {
		kind = MethodRemoved
	}
	out := method{
		Account: m.Account, UserID: orNull(string(m.UserID)), OrderID: orNull(string(m.OrderID)), Saved: savedOf(m.SavedMethod),
		Version: m.Version, UpdatedAt: stamp(m.UpdatedAt),
	}
	if m.AttemptID != (payment.AttemptID{}) {
		out.PaymentAttemptID = new(m.AttemptID.String())
	}
	message := newMessage(kind, subjectOf(m.Name()), m.Version, m.UpdatedAt, out)
	message.OrderID, message.AttemptID = m.OrderID, m.AttemptID
	return message
}

// subjectOf returns the subject of a method, without the token: a subject stays when the payload is erased.
func subjectOf(n payment.MethodName) string {
	sum := sha256.Sum256([]byte(n.Token))
	return n.Account + "/" + hex.EncodeToString(sum[:16])
}
