package yookassa

import (
	"encoding/json"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// receipt is the fiscal receipt of a payment, a capture or a refund
// (https://yookassa.ru/developers/payment-acceptance/receipts/54fz/yoomoney/basics).
type receipt struct {
	Customer  receiptCustomer `json:"customer"`
	Items     []receiptItem   `json:"items"`
	TaxSystem int             `json:"tax_system_code,omitempty"`
}

type receiptCustomer struct {
	Name  string `json:"full_name,omitempty"`
	Email string `json:"email,omitempty"`
	Phone string `json:"phone,omitempty"`
}

// receiptItem is a line. Its amount is the price of one piece.
type receiptItem struct {
	Description    string      `json:"description"`
	Quantity       json.Number `json:"quantity"`
	Amount         amount      `json:"amount"`
	VATCode        int         `json:"vat_code"`
	PaymentSubject string      `json:"payment_subject,omitempty"`
	PaymentMode    string      `json:"payment_mode,omitempty"`
	Measure        string      `json:"measure,omitempty"`
}

const (
	// maxDescription and maxName are in characters.
	maxDescription, maxName = 128, 256
	// maxVATCode is the highest number of a tax rate. The numbers begin with 1.
	maxVATCode = 12
)

// receiptOf returns the receipt in YooKassa's format, or nil without a receipt.
func (c *Client) receiptOf(r *gateway.Receipt, currency payment.Currency) (*receipt, error) {
	if r == nil {
		return nil, nil //nolint:nilnil // a charge without a receipt
	}
	on := &receipt{TaxSystem: c.TaxSystem, Customer: receiptCustomer{
		Name: kit.Short(r.Customer.Name, maxName), Email: r.Customer.Email, Phone: digits(r.Customer.Phone),
	}}
	for _, l := range r.Lines {
		item, err := itemOf(l, currency)
		if err != nil {
			return nil, err
		}
		on.Items = append(on.Items, item)
	}
	return on, nil
}

func itemOf(l gateway.Line, currency payment.Currency) (receiptItem, error) {
	quantity, unit := kit.Priced(l)
	value, err := kit.Decimal(payment.Money{Minor: unit, Currency: currency})
	item := receiptItem{Description: kit.Short(l.Description, maxDescription), Quantity: quantity, Amount: amount{value, string(currency)}}
	if l.Receipt != nil {
		item.VATCode, item.PaymentSubject, item.PaymentMode, item.Measure = l.Receipt.VATCode, l.Receipt.PaymentSubject, l.Receipt.PaymentMode, l.Receipt.Measure
	}
	return item, err
}
