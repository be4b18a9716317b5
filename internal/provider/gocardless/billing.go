package gocardless

import (
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// These are the metadata keys of our ids. customerName is the key of the customer's reference in a mandate's metadata.
const (
	attemptName  = "payment_attempt_id"
	orderName    = "order_id"
	refundName   = "refund_id"
	customerName = "customer_reference"
)

// billing is GoCardless's view of a billing request
// (https://developer.gocardless.com/api-reference/#billing-requests-billing-requests).
type billing struct {
	ID             string            `json:"id"`
	Status         string            `json:"status"`
	Metadata       map[string]string `json:"metadata"`
	MandateRequest struct {
		Scheme string `json:"scheme"`
	} `json:"mandate_request"`
	Links struct {
		Payment string `json:"payment_request_payment"`
		Mandate string `json:"mandate_request_mandate"`
	} `json:"links"`
	Resources struct {
		Account struct {
			Bank   string `json:"bank_name"`
			Ending string `json:"account_number_ending"`
		} `json:"customer_bank_account"`
	} `json:"resources"`
}

// outcome maps a billing request without a payment by its status (the enumeration of BillingRequest in GoCardless's .NET
// client, Resources/BillingRequest.cs). The customer must authorise it until it is fulfilled. An unrecognized status is
// processing.
func (b billing) outcome() gateway.Outcome {
	o := gateway.Outcome{Container: b.ID, References: b.references(), Event: fsm.EventProcessing}
	switch b.Status {
	case "pending", "ready_to_fulfil":
		o.Event = fsm.EventActionRequired
	case "cancelled":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("canceled", "")
	}
	return o
}

// references returns our id of the attempt and the billing request's own id.
func (b billing) references() []string {
	if ours := b.Metadata[attemptName]; ours != "" {
		return []string{ours, b.ID}
	}
	return []string{b.ID}
}

// saved returns the mandate that the billing request has created besides its payment, or nil.
func (b billing) saved() *payment.SavedMethod {
	if b.Links.Mandate == "" {
		return nil
	}
	m := &payment.SavedMethod{Token: b.Links.Mandate, Type: b.MandateRequest.Scheme}
	if a := b.Resources.Account; a.Ending != "" {
		m.Display = strings.TrimSpace(a.Bank + " •••• " + a.Ending)
	}
	return m
}
