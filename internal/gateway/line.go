package gateway

// LineType is the kind of a line.
type LineType string

// The types of lines.
const (
	LinePhysical  LineType = "physical"
	LineDigital   LineType = "digital"
	LineService   LineType = "service"
	LineShipping  LineType = "shipping"
	LineDiscount  LineType = "discount"
	LineGiftCard  LineType = "gift_card"
	LineSurcharge LineType = "surcharge"
)

// Line is one thing that is paid for. Amounts are in minor units of the order's currency, taxes and
// discounts included; below 0 for a discount or a gift card.
type Line struct {
	Description string `json:"description"`
	// Quantity is a decimal number above 0, with three decimals at most.
	Quantity   string `json:"quantity"`
	UnitAmount int64  `json:"unit_amount"`
	Amount     int64  `json:"amount"`
	// TaxRate is a decimal fraction: 0.19 is 19 %. Empty if not given.
	TaxRate   string   `json:"tax_rate,omitempty"`
	TaxAmount int64    `json:"tax_amount,omitempty"`
	SKU       string   `json:"sku,omitempty"`
	Type      LineType `json:"type,omitempty"`
	// Receipt is the part of a fiscal receipt about the line; nil if there is none.
	Receipt *LineReceipt `json:"receipt,omitempty"`
}

// LineReceipt is the part of a fiscal receipt (54-FZ, the formats of tag 1209) about a line.
type LineReceipt struct {
	// VATCode is the tax rate's number as YooKassa counts them
	// (https://yookassa.ru/developers/payment-acceptance/receipts/54fz/parameters-values#vat-codes).
	VATCode        int    `json:"vat_code"`
	PaymentSubject string `json:"payment_subject,omitempty"`
	PaymentMode    string `json:"payment_mode,omitempty"`
	Measure        string `json:"measure,omitempty"`
}

// HasReceipt reports whether lines are to be on a fiscal receipt.
func HasReceipt(lines []Line) bool {
	for i := range lines {
		if lines[i].Receipt != nil {
			return true
		}
	}
	return false
}
