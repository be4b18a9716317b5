package robokassa

import (
	"encoding/json"
	"net/url"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// receipt is a fiscal receipt (https://docs.robokassa.ru/ru/fiscalization).
type receipt struct {
	Taxation string        `json:"sno,omitempty"`
	Items    []receiptItem `json:"items"`
}

// receiptItem is a line. Sum is the sum of all pieces.
type receiptItem struct {
	Name     string      `json:"name"`
	Quantity json.Number `json:"quantity"`
	Sum      json.Number `json:"sum"`
	Method   string      `json:"payment_method,omitempty"`
	Object   string      `json:"payment_object,omitempty"`
	Tax      string      `json:"tax"`
}

// refundItem is a line on the receipt of a refund (https://docs.robokassa.ru/ru/refund-api, "InvoiceItems"). Cost is the
// price of one piece.
type refundItem struct {
	Name     string      `json:"Name"`
	Quantity json.Number `json:"Quantity"`
	Cost     json.Number `json:"Cost"`
	Tax      string      `json:"Tax"`
	Method   string      `json:"PaymentMethod,omitempty"`
	Object   string      `json:"PaymentObject,omitempty"`
}

// maxName is the maximum length of a line's name, in characters. maxItems is the maximum number of lines.
const maxName, maxItems = 128, 100

// receiptOf returns the receipt for links and captures: URL-encoded JSON, which is signed and sent in this form. It is
// empty without a receipt.
func (c *Client) receiptOf(r *gateway.Receipt) (string, error) {
	if r == nil {
		return "", nil
	}
	on := receipt{Taxation: c.shop.Taxation}
	for i := range r.Lines {
		l := &r.Lines[i]
		quantity, _ := kit.Priced(*l)
		sum, err := c.sum(payment.Money{Minor: l.Amount, Currency: c.shop.Currency})
		if err != nil {
			return "", err
		}
		item := receiptItem{Name: kit.Short(l.Description, maxName), Quantity: quantity, Sum: json.Number(sum)}
		if l.Receipt != nil {
			item.Tax, item.Method, item.Object = rates[l.Receipt.VATCode], methods[l.Receipt.PaymentMode], objects[l.Receipt.PaymentSubject]
		}
		on.Items = append(on.Items, item)
	}
	raw, err := kit.JSON(on)
	if err != nil {
		return "", err
	}
	return url.QueryEscape(string(raw)), nil
}

// itemsOf returns the lines of a refund's receipt, or nil without a receipt.
func (c *Client) itemsOf(r *gateway.Receipt) ([]refundItem, error) {
	if r == nil {
		return nil, nil
	}
	items := make([]refundItem, len(r.Lines))
	for i := range r.Lines {
		l := &r.Lines[i]
		quantity, unit := kit.Priced(*l)
		cost, err := c.sum(payment.Money{Minor: unit, Currency: c.shop.Currency})
		if err != nil {
			return nil, err
		}
		items[i] = refundItem{Name: kit.Short(l.Description, maxName), Quantity: quantity, Cost: json.Number(cost)}
		if l.Receipt != nil {
			items[i].Tax, items[i].Method, items[i].Object = rates[l.Receipt.VATCode], methods[l.Receipt.PaymentMode], objects[l.Receipt.PaymentSubject]
		}
	}
	return items, nil
}
