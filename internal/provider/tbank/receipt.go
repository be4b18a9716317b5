package tbank

import (
	"context"
	"encoding/json"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// receipt is a fiscal receipt. Its format is 1.05, or 1.2 if its lines have a measure.
type receipt struct {
	Format   string        `json:"FfdVersion"`
	Email    string        `json:"Email,omitempty"`
	Phone    string        `json:"Phone,omitempty"`
	Taxation string        `json:"Taxation"`
	Items    []receiptItem `json:"Items"`
}

// receiptItem is a line. Its amounts are in kopecks.
type receiptItem struct {
	Name          string      `json:"Name"`
	Price         int64       `json:"Price"`
	Quantity      json.Number `json:"Quantity"`
	Amount        int64       `json:"Amount"`
	Tax           string      `json:"Tax"`
	PaymentMethod string      `json:"PaymentMethod"`
	PaymentObject string      `json:"PaymentObject"`
	Measure       string      `json:"MeasurementUnit,omitempty"`
}

// maxName is the maximum length of a line's name, in characters.
const maxName = 128

const formatOld, formatNew = "1.05", "1.2"

// receiptOf returns the receipt in the bank's format, or nil without a receipt.
func (c *Client) receiptOf(r *gateway.Receipt) *receipt {
	if r == nil {
		return nil
	}
	on := &receipt{Format: format(r.Lines), Email: r.Customer.Email, Phone: r.Customer.Phone, Taxation: c.Taxation}
	for i := range r.Lines {
		on.Items = append(on.Items, itemOf(r.Lines[i]))
	}
	return on
}

func itemOf(l gateway.Line) receiptItem {
	quantity, price := kit.Priced(l)
	item := receiptItem{Name: kit.Short(l.Description, maxName), Price: price, Quantity: quantity, Amount: l.Amount}
	if on := l.Receipt; on != nil {
		item.Tax, item.PaymentMethod, item.PaymentObject, item.Measure = rates[on.VATCode], methods[on.PaymentMode], objects[on.PaymentSubject], units[on.Measure]
	}
	return item
}

// format returns the format of the lines. Only the newer format has a measure.
func format(lines []gateway.Line) string {
	for i := range lines {
		if on := lines[i].Receipt; on != nil && on.Measure != "" {
			return formatNew
		}
	}
	return formatOld
}

// receiptOfRefund returns the receipt of a refund. It returns nil for the refund of the whole payment, because the bank
// creates that receipt itself ("Cancel", Receipt). If the refund is all that is left, the payment's state shows whether
// that is the whole payment or a rest.
func (c *Client) receiptOfRefund(ctx context.Context, r gateway.RefundCall) (*receipt, error) {
	if r.Receipt != nil && r.Money.Minor == r.Left.Minor {
		now, err := c.command(ctx, "GetState", request{PaymentID: r.ProviderPaymentID}, r.Permit)
		switch {
		case err != nil:
			return nil, err
		case now.Status == "":
			return nil, now.said()
		case now.Status == "CONFIRMED":
			return nil, nil //nolint:nilnil // a refund without a receipt
		}
	}
	return c.receiptOf(r.Receipt), nil
}
