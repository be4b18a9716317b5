package gocardless

import (
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// The metadata keys of our ids. customerName, of a mandate, is that of the customer's reference.
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

// outcome maps a billing request that has made no payment by its status (the enumeration of BillingRequest in
// GoCardless's .NET client, Resources/BillingRequest.cs): its customer has to authorise it until it is fulfilled. An
// unrecognized status is processing.
func (b billing) outcome() gateway.Outcome {
	o := gateway.Outcome{Container: b.ID, References: b.references(), News: fsm.NewsProcessing}
	switch b.Status {
	case "pending", "ready_to_fulfil":
		o.News = fsm.NewsActionRequired
	case "cancelled":
		o.News, o.Failure = fsm.NewsFailed, payment.NewFailure("canceled", "")
	}
	return o
}

// references are our id of the attempt and the billing request's own.
func (b billing) references() []string {
	if ours := b.Metadata[attemptName]; ours != "" {
		return []string{ours, b.ID}
	}
	return []string{b.ID}
}

// saved is the mandate that the billing request has made beside its payment, nil for none.
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
