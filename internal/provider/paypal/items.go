package paypal

import (
	"strconv"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// item is one thing that is bought. Its price has its taxes in it: what PayPal adds up is then the
// payment's amount.
type item struct {
	Name       string `json:"name"`
	UnitAmount amount `json:"unit_amount"`
	Quantity   string `json:"quantity"`
	SKU        string `json:"sku,omitempty"`
	Category   string `json:"category,omitempty"`
}

// breakdown is what an order's amount is the sum of.
type breakdown struct {
	Items    *amount `json:"item_total,omitempty"`
	Shipping *amount `json:"shipping,omitempty"`
	Discount *amount `json:"discount,omitempty"`
}

// sums are the parts of a breakdown, in minor units.
type sums struct{ items, shipping, discount int64 }

// maxText is the length of a name and a number of an item at PayPal, in characters.
const maxText = 127

var categories = map[gateway.LineType]string{ //nolint:gochecknoglobals // a table
	gateway.LinePhysical: "PHYSICAL_GOODS", gateway.LineDigital: "DIGITAL_GOODS", gateway.LineService: "DIGITAL_GOODS",
}

// itemsOf are the lines of a charge, those of shipping and discounts as sums. It returns none if PayPal
// has no digits for an amount, or if nothing is bought.
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
