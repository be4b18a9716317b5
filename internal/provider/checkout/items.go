package checkout

import (
	"strconv"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

type item struct {
	Name      string `json:"name"`
	Quantity  int64  `json:"quantity"`
	UnitPrice int64  `json:"unit_price"`
	Reference string `json:"reference,omitempty"`
}

// itemsOf returns the items of a charge. It returns none if a line is negative, because Checkout.com does not accept
// negative items.
func itemsOf(ch gateway.Charge) []item {
	var all []item
	for _, l := range ch.Lines {
		quantity, err := strconv.ParseInt(l.Quantity, 10, 64)
		unit := l.UnitAmount
		if err != nil || quantity < 1 || quantity*unit != l.Amount {
			quantity, unit = 1, l.Amount
		}
		price, err := digits.Units(payment.Money{Minor: unit, Currency: ch.Money.Currency})
		if err != nil || price < 0 {
			return nil
		}
		all = append(all, item{Name: l.Description, Quantity: quantity, UnitPrice: price, Reference: l.SKU})
	}
	return all
}
