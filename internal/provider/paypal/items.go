package paypal

import (
	"strconv"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// item is a purchased item. Its price includes its taxes, so the sum that PayPal calculates equals the payment's amount.
type item struct {
	Name       string `json:"name"`
	UnitAmount amount `json:"unit_amount"`
	Quantity   string `json:"quantity"`
	SKU        string `json:"sku,omitempty"`
	Category   string `json:"category,omitempty"`
}

// breakdown is the parts of an order's amount.
type breakdown struct {
	Items    *amount `json:"item_total,omitempty"`
	Shipping *amount `json:"shipping,omitempty"`
	Discount *amount `json:"discount,omitempty"`
}

// sums are the parts of an amount, in minor units.
type sums struct{ items, shipping, discount int64 }

// maxText is PayPal's limit for an item's name and number, in characters.
const maxText = 127

var categories = map[gateway.LineType]string{ //nolint:gochecknoglobals // a table
	gateway.LinePhysical: "PHYSICAL_GOODS", gateway.LineDigital: "DIGITAL_GOODS", gateway.LineService: "DIGITAL_GOODS",
}

// itemsOf returns the items of a charge, and shipping and discounts as sums. It returns nothing if PayPal's digits can't
// express an amount, or if there are no items.
func itemsOf(ch gateway.Charge) ([]item, *breakdown) {
	var all []item
	var sum sums
	for _, l := range ch.Lines {
		switch {
		case l.Amount < 0:
			sum.discount -= l.Amount
		case l.Type == gateway.LineShipping:
			sum.shipping += l.Amount
		default:
			one, err := itemOf(l, ch.Money.Currency)
			if err != nil {
				return nil, nil
			}
			all, sum.items = append(all, one), sum.items+l.Amount
		}
	}
	parts, err := sum.breakdown(ch.Money.Currency)
	if len(all) == 0 || err != nil || sum.items+sum.shipping-sum.discount != ch.Money.Minor {
		return nil, nil
	}
	return all, parts
}

func itemOf(l gateway.Line, currency payment.Currency) (item, error) {
	quantity, err := strconv.ParseInt(l.Quantity, 10, 64)
	unit := l.UnitAmount
	if err != nil || quantity < 1 || quantity*unit != l.Amount {
		quantity, unit = 1, l.Amount
	}
	sum, err := amountOf(payment.Money{Minor: unit, Currency: currency})
	if err != nil {
		return item{}, err
	}
	one := item{Name: l.Description, UnitAmount: sum, Quantity: strconv.FormatInt(quantity, 10), Category: categories[l.Type]}
	if text := []rune(l.Description); len(text) > maxText {
		one.Name = string(text[:maxText])
	}
	if len(l.SKU) <= maxText {
		one.SKU = l.SKU
	}
	return one, nil
}

func (s sums) breakdown(currency payment.Currency) (*breakdown, error) {
	b := &breakdown{}
	for minor, part := range map[*int64]**amount{&s.items: &b.Items, &s.shipping: &b.Shipping, &s.discount: &b.Discount} {
		if *minor == 0 && part != &b.Items {
			continue
		}
		sum, err := amountOf(payment.Money{Minor: *minor, Currency: currency})
		if err != nil {
			return nil, err
		}
		*part = &sum
	}
	return b, nil
}
