package sandbox

import (
	"strings"
	"time"

	"github.com/google/uuid"
)

// The journal's records. A charge, a refund and a stored payment method are shown to
// callers by the struct that they embed.

type status string

const (
	pending    status = "pending"
	authorized status = "authorized"
	succeeded  status = "succeeded"
	failed     status = "failed"
	canceled   status = "canceled"
)

// charge is a charge in responses.
type charge struct {
	ID             string `json:"id"`
	Reference      string `json:"reference"`
	OrderID        string `json:"order_id,omitempty"`
	Status         status `json:"status"`
	Amount         int64  `json:"amount"`
	AmountCaptured int64  `json:"amount_captured"`
	AmountRefunded int64  `json:"amount_refunded"`
	AmountDisputed int64  `json:"amount_disputed"`
	// AmountCapturable is what is left of a hold with several captures; absent for other charges.
	AmountCapturable *int64      `json:"amount_capturable,omitempty"`
	Currency         string      `json:"currency"`
	Capture          string      `json:"capture"`
	FailureCode      *string     `json:"failure_code"`
	FailureMessage   *string     `json:"failure_message"`
	NextAction       *nextAction `json:"next_action"`
	Saved            *method     `json:"saved_payment_method"`
	Created          string      `json:"created"`
}

// The ways in which a customer goes on.
const (
	actionRedirect = "redirect"
	actionPostForm = "post_form"
	actionSDK      = "sdk"
	actionDisplay  = "display"
)

type nextAction struct {
	Type      string            `json:"type"`
	URL       string            `json:"url,omitempty"`
	Fields    map[string]string `json:"fields,omitempty"`
	Data      map[string]string `json:"data,omitempty"`
	ExpiresAt string            `json:"expires_at,omitempty"`
}

// chargeRecord is a charge with the fields that no response contains.
type chargeRecord struct {
	charge

	Key       string `json:"key"`
	PageURL   string `json:"page_url,omitempty"`
	ReturnURL string `json:"return_url,omitempty"`
	Copies    int    `json:"copies,omitempty"`
	Plan      *plan  `json:"plan,omitempty"`

	// Secret is the drop-in's secret to confirm the charge; empty for charges that are
	// not the drop-in's.
	Secret string `json:"secret,omitempty"`
	Choice choice `json:"choice,omitempty"`
	// Challenge is the one that the customer has to pass; nil for charges without.
	Challenge *challenge `json:"challenge,omitempty"`
}

// challenge is a 3-D Secure challenge: the customer's decision gives one of two results, which only
// the shop's second call turns into money.
type challenge struct {
	Approved string `json:"approved"`
	Declined string `json:"declined"`
}

// choice is how far a charge of the drop-in is.
type choice string

const (
	choiceOpen    choice = ""          // the customer has not paid yet
	choiceFaulted choice = "faulted"   // the token's fault kept the first try from being done
	choiceMade    choice = "confirmed" // for good: a charge is confirmed once
)

// createdCharge is a charge in the response to its creation.
type createdCharge struct {
	charge

	ClientSecret string `json:"client_secret"`
}

// plan is the next step of a charge without a further call.
type plan struct {
	Do step      `json:"do"`
	At time.Time `json:"at"`
}

// shownCharge is a charge in lookups.
type shownCharge struct {
	charge

	Refunds  []refund  `json:"refunds"`
	Disputes []Dispute `json:"disputes"`
}

// refund is final as soon as it exists.
type refund struct {
	ID        string `json:"id"`
	ChargeID  string `json:"charge_id"`
	Reference string `json:"reference"`
	Amount    int64  `json:"amount"`
	Currency  string `json:"currency"`
	Status    status `json:"status"`
}

// method is a stored payment method as a charge shows it.
type method struct {
	Token   string `json:"token"`
	Type    string `json:"type"`
	Display string `json:"display"`
	Expires string `json:"expires"`
}

// methodRecord is a stored payment method with its owner.
type methodRecord struct {
	method

	Customer string `json:"customer"`
}

// event is a webhook that must be received, or that only the list of events has. Body is
// stored, so that every try sends the same bytes.
type event struct {
	Event

	At      time.Time `json:"at"` // not sent before
	Created string    `json:"created"`
	After   string    `json:"after,omitempty"` // not sent before this event was received
	// Listed events are never sent: they were lost, or there was no webhook address.
	Listed bool `json:"listed,omitempty"`
}

// keyRecord is an idempotency key, stored for ever. Without a status its first try met
// a fault before anything was done: the next one runs.
type keyRecord struct {
	Key    string `json:"key"`
	Hash   string `json:"hash"`
	Status int    `json:"status,omitempty"`
	Body   string `json:"body,omitempty"`
	Await  string `json:"await,omitempty"`
}

func newID(prefix string) string {
	return prefix + strings.ReplaceAll(uuid.NewString(), "-", "")
}
