package standard

import (
	"encoding/json"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// ChargeRequest is the body of the call that begins a charge.
type ChargeRequest struct {
	// Reference is the attempt's id. It finds the charge again.
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

// CaptureRequest is the body of a capture. Final is set for a hold that is captured in several parts.
type CaptureRequest struct {
	Amount int64 `json:"amount"`
	Final  *bool `json:"final,omitempty"`
}

// RefundRequest is the body of a refund. Reference is the refund's id at paylatch.
type RefundRequest struct {
	Amount    int64  `json:"amount"`
	Reference string `json:"reference"`
}

// These are the statuses of a charge.
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
	// AmountCaptured is nil if the provider omits it. A succeeded charge is then captured in full.
	AmountCaptured *int64 `json:"amount_captured"`
	// AmountCapturable is the amount on hold beside the captures; nil if the hold is captured once.
	AmountCapturable *int64  `json:"amount_capturable,omitempty"`
	Currency         string  `json:"currency"`
	FailureCode      *string `json:"failure_code"`
	// ContainerID is the page, session or order of the charge, and Payee is the account that receives the money. Both
	// are empty if the provider has none. Test is set if the payment moves no real money; nil if the provider omits it.
	ContainerID string               `json:"container_id,omitzero"`
	Payee       string               `json:"payee,omitzero"`
	Test        *bool                `json:"test,omitzero"`
	NextAction  *payment.NextAction  `json:"next_action"`
	Saved       *payment.SavedMethod `json:"saved_payment_method"`
	// Refunds and Disputes are set in lookups.
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

// Dispute is a dispute as the provider shows it. Each movement has the id of its entry in the provider's books, as in
// webhooks.
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

// DisputeMovement is a money movement of a dispute, in the dispute's currency.
type DisputeMovement struct {
	EntryID string    `json:"entry_id"`
	Kind    string    `json:"kind"`
	Amount  int64     `json:"amount"`
	At      time.Time `json:"at"`
}
