package yookassa

import (
	"fmt"
	"slices"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// maxCustomer is the maximum length of merchant_customer_id.
const maxCustomer = 200

// allowed returns the members of YooKassa's own request that provider_data may contain.
func allowed() []string { return []string{"airline", "description", "statements"} }

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n kit.Needs
	n.Data(ch.Details, allowed()...)
	atYooKassa := ways[ch.Token] || codes[ch.Token]
	n.If(ways[ch.Token] && ch.MethodType != "" && !codes[ch.MethodType], "payment_method.type", "is unknown to YooKassa")
	n.If((ch.Token == typeQR || ch.Token == typeExternal) && ch.MethodType == "", "payment_method.type", "is required with this token")
	n.If(atYooKassa && returns(confirms(ch.Details)) && ch.ReturnURL == "", "return_url", "is required for a payment that the customer confirms at YooKassa")
	n.If(byPhone(ch.Details) && ch.Customer.Phone == "", "customer.phone", "is required for this payment method")
	n.If(len(ch.Customer.Reference) > maxCustomer, "customer.reference", fmt.Sprintf("may have at most %d characters at YooKassa", maxCustomer))
	n.Receipt(ch.Details)
	for i := range ch.Lines {
		accepts(&n, fmt.Sprintf("lines[%d].receipt.", i), ch.Lines[i].Receipt)
	}
	return n.Err()
}

// accepts adds the values for which YooKassa has no word.
func accepts(n *kit.Needs, member string, r *gateway.LineReceipt) {
	if r == nil {
		return
	}
	n.If(r.VATCode < 1 || r.VATCode > maxVATCode, member+"vat_code", fmt.Sprintf("must be from 1 to %d", maxVATCode))
	n.If(r.PaymentSubject != "" && !slices.Contains(subjects, r.PaymentSubject), member+"payment_subject", "is unknown to YooKassa")
	n.If(r.PaymentMode != "" && !slices.Contains(modes, r.PaymentMode), member+"payment_mode", "is unknown to YooKassa")
	n.If(r.Measure != "" && !slices.Contains(measures, r.Measure), member+"measure", "is unknown to YooKassa")
}

// These are the values of a line's receipt
// (https://yookassa.ru/developers/payment-acceptance/receipts/54fz/parameters-values).
//
//nolint:gochecknoglobals // tables
var (
	subjects = []string{
		"commodity", "excise", "job", "service", "gambling_bet", "gambling_prize", "lottery", "lottery_prize", "intellectual_activity", "payment",
		"agent_commission", "property_right", "non_operating_gain", "insurance_premium", "sales_tax", "resort_fee", "composite", "another", "fine",
		"tax", "lien", "cost", "pension_insurance_without_payouts", "pension_insurance_with_payouts", "health_insurance_without_payouts",
		"health_insurance_with_payouts", "health_insurance", "casino", "agent_withdrawals", "non_marked_excise", "marked_excise", "marked", "non_marked",
	}
	modes    = []string{"full_prepayment", "partial_prepayment", "advance", "full_payment", "partial_payment", "credit", "credit_payment"}
	measures = []string{
		"piece", "gram", "kilogram", "ton", "centimeter", "decimeter", "meter", "square_centimeter", "square_decimeter", "square_meter",
		"milliliter", "liter", "cubic_meter", "kilowatt_hour", "gigacalorie", "day", "hour", "minute", "second", "kilobyte", "megabyte",
		"gigabyte", "terabyte", "another",
	}
)
