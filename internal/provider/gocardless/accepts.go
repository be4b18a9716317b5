package gocardless

import (
	"slices"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// mandateData, payData and requestData return the members of GoCardless's own requests that provider_data may contain:
// of a payment by a mandate, of a billing request's payment, and of the billing request itself (PaymentCreateParams and
// BillingRequestCreateParams of its Go client). Metadata and links are not allowed, because they identify payments and
// customers.
func mandateData() []string {
	return []string{"app_fee", "charge_date", "faster_ach", "reference", "retry_if_possible"}
}

func payData() []string { return []string{"app_fee", "funds_settlement", "reference"} }

func requestData() []string { return []string{"fallback_enabled", "purpose_code"} }

func providerData() []string {
	all := slices.Concat(mandateData(), payData(), requestData())
	slices.Sort(all)
	return slices.Compact(all)
}

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n kit.Needs
	n.If(ch.Capture == payment.CaptureManual, "capture", "must be automatic: GoCardless holds no money")
	if c.TokenKind(ch.Token) == gateway.TokenStored {
		n.Data(ch.Details, mandateData()...)
		n.If(ch.Save, "save_payment_method", "is only for a new payment method: a mandate is already stored")
		return n.Err()
	}
	n.Data(ch.Details, slices.Concat(payData(), requestData())...)
	n.If(!isPage(ch.Token), "payment_method.token", "must be a mandate (MD…), redirect or one of "+strings.Join(schemes(), ", "))
	// The source is BillingRequestPaymentRequest.Currency in GoCardless's .NET client.
	n.If(!slices.Contains([]payment.Currency{"EUR", "GBP"}, ch.Money.Currency), "amount", "must be in EUR or GBP without a mandate")
	n.If(ch.Save && ch.Customer.Reference == "", "customer.reference", "is needed to store a mandate for the customer")
	return n.Err()
}
