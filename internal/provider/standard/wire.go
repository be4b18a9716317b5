package standard

import (
	"encoding/json"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// ChargeRequest is the body of the call that begins a charge.
type ChargeRequest struct {
	// Reference is the attempt's id, by which the charge is found again.
	Reference  string           `json:"reference"`
	OrderID    string           `json:"order_id,omitempty"`
	Amount     int64            `json:"amount"`
	Currency   string           `json:"currency"`
	Token      string           `json:"token"`
	Capture    string           `json:"capture,omitempty"`
	ReturnURL  string           `json:"return_url,omitempty"`
	Customer   string           `json:"customer,omitempty"`
	Save       bool             `json:"save_payment_method,omitempty"`
	Initiator  string           `json:"initiator,omitempty"`
	Email      string           `json:"email,omitempty"`
	Billing    *gateway.Address `json:"billing_address,omitempty"`
	Lines      []gateway.Line   `json:"lines,omitempty"`
	Descriptor string           `json:"statement_descriptor,omitempty"`
}

// CompleteRequest is the body of a charge's second step.
type CompleteRequest struct {
	Details json.RawMessage `json:"details"`
}

// CaptureRequest is the body of a capture.
type CaptureRequest struct {
	Amount int64 `json:"amount"`
}

// RefundRequest is the body of a refund. Reference is the refund's id at paylatch.
type RefundRequest struct {
	Amount    int64  `json:"amount"`
	Reference string `json:"reference"`
}

// The statuses of a charge.
const (
	Pending    = "pending"
	Authorized = "authorized"
	Succeeded  = "succeeded"
	Failed     = "failed"
	Canceled   = "canceled"
)

// Charge is a charge as the provider shows it.
type Charge struct {
	ID        string `json:"id"`
	Reference string `json:"reference"`
	Status    string `json:"status"`
	Amount    int64  `json:"amount"`
	// AmountCaptured is nil where it was left out: all of the amount, once the charge has succeeded.
	AmountCaptured *int64  `json:"amount_captured"`
	Currency       string  `json:"currency"`
	FailureCode    *string `json:"failure_code"`
	// ContainerID is the page, session or order in which the charge was made, Payee the account that is paid; empty where the
	// provider has none. Test is whether no real money is meant, nil where it is left out.
	ContainerID string               `json:"container_id,omitzero"`
	Payee       string               `json:"payee,omitzero"`
	Test        *bool                `json:"test,omitzero"`
	NextAction  *payment.NextAction  `json:"next_action"`
	Saved       *payment.SavedMethod `json:"saved_payment_method"`
	// Refunds and Disputes are there in lookups.
	Refunds  []Refund  `json:"refunds"`
	Disputes []Dispute `json:"disputes"`
}

// Refund is a refund as the provider shows it.
type Refund struct {
	ID          string  `json:"id"`
	Reference   string  `json:"reference"`
	Status      string  `json:"status"`
	Amount      int64   `json:"amount"`
	Currency    string  `json:"currency"`
	FailureCode *string `json:"failure_code,omitempty"`
}

// Dispute is a dispute as the provider shows it. Each movement is named by its entry of the provider's books, as in webhooks.
type Dispute struct {
	ID        string            `json:"id"`
	Status    string            `json:"status"`
	Reason    string            `json:"reason"`
	Amount    int64             `json:"amount"`
	Currency  string            `json:"currency"`
	DueBy     time.Time         `json:"due_by"`
	Updated   time.Time         `json:"updated"`
	Movements []DisputeMovement `json:"movements"`
}

// DisputeMovement is what a dispute has moved, in its currency.
type DisputeMovement struct {
	EntryID string    `json:"entry_id"`
	Kind    string    `json:"kind"`
	Amount  int64     `json:"amount"`
	At      time.Time `json:"at"`
}
