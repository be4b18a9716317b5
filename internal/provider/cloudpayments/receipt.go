package cloudpayments

import (
	"encoding/json"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// data is the shop's own data of a transaction. It may contain a receipt.
type data map[string]any

// dataOf returns the texts and the receipt, if there is one.
func (c *Client) dataOf(texts map[string]string, r *gateway.Receipt, m payment.Money) (data, error) {
	d := data{}
	for name, text := range texts {
		d[name] = text
	}
	if r == nil {
		return d, nil
	}
	on, err := c.receiptOf(r, m)
	d["cloudPayments"] = map[string]any{"customerReceipt": on}
	return d, err
}

// receipt is a fiscal receipt
// (https://developers.cloudpayments.ru/#format-peredachi-dannyh-dlya-onlayn-cheka).
type receipt struct {
	Items    []receiptItem `json:"Items"`
	Taxation *int          `json:"taxationSystem,omitempty"`
	Email    string        `json:"email,omitempty"`
	Phone    string        `json:"phone,omitempty"`
	Amounts  amounts       `json:"amounts"`
}

// amounts are the paid amounts by kind of payment.
type amounts struct {
	Electronic json.Number `json:"electronic"`
}

// receiptItem is a line. VAT is null if there is no tax.
type receiptItem struct {
	Label    string      `json:"label"`
	Price    json.Number `json:"price"`
	Quantity json.Number `json:"quantity"`
	Amount   json.Number `json:"amount"`
	VAT      *int        `json:"vat"`
	Method   int         `json:"method"`
	Object   int         `json:"object"`
	Unit     string      `json:"measurementUnit,omitempty"`
}

// maxLabel is the maximum length of a line's name, in characters. quantityDigits are the decimals of a quantity.
const maxLabel, quantityDigits = 128, 2

func (c *Client) receiptOf(r *gateway.Receipt, m payment.Money) (*receipt, error) {
	all, err := kit.Decimal(m)
	on := &receipt{Taxation: c.Taxation, Email: r.Customer.Email, Phone: r.Customer.Phone, Amounts: amounts{json.Number(all)}}
	for i := range r.Lines {
		if err != nil {
			break
		}
		var item receiptItem
		item, err = itemOf(r.Lines[i], m.Currency)
		on.Items = append(on.Items, item)
	}
	return on, err
}

func itemOf(l gateway.Line, currency payment.Currency) (receiptItem, error) {
	quantity, unit := kit.Priced(l)
	if _, decimals, _ := strings.Cut(string(quantity), "."); len(decimals) > quantityDigits {
		quantity, unit = "1", l.Amount
	}
	price, err := kit.Decimal(payment.Money{Minor: unit, Currency: currency})
	if err != nil {
		return receiptItem{}, err
	}
	amount, err := kit.Decimal(payment.Money{Minor: l.Amount, Currency: currency})
	item := receiptItem{Label: kit.Short(l.Description, maxLabel), Price: json.Number(price), Quantity: quantity, Amount: json.Number(amount)}
	if on := l.Receipt; on != nil {
		item.VAT, item.Method, item.Object, item.Unit = rates[on.VATCode], methods[on.PaymentMode], objects[on.PaymentSubject], units[on.Measure]
	}
	return item, err
}
