package stripe

import (
	"strconv"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

const (
	// maxLines and maxCode are Stripe's limits.
	maxLines, maxCode = 200, 12
)

// lines returns the line items of a charge, or nil if Stripe can't accept all of them. Stripe's unit cost excludes taxes
// and ours includes them. So lines passes no tax, and the sums equal the payment's amount. Stripe takes the discounts as
// one sum.
func lines(ch gateway.Charge) *stripe.PaymentIntentCreateAmountDetailsParams {
	if len(ch.Lines) == 0 || len(ch.Lines) > maxLines {
		return nil
	}
	// The payment continues if Stripe finds an error in the sums.
	all := &stripe.PaymentIntentCreateAmountDetailsParams{EnforceArithmeticValidation: new(false)}
	var discount int64
	for _, l := range ch.Lines {
		if l.Amount < 0 {
			discount -= l.Amount
			continue
		}
		item, err := lineItem(l, ch.Money.Currency)
		if err != nil {
			return nil
		}
		all.LineItems = append(all.LineItems, item)
	}
	if discount > 0 {
		units, err := amount(payment.Money{Minor: discount, Currency: ch.Money.Currency})
		if err != nil {
			return nil
		}
		all.DiscountAmount = &units
	}
	return all
}

// lineItems returns the line items of a charge; none if Stripe can't accept all of them.
func lineItems(ch gateway.Charge) []*stripe.PaymentIntentCreateAmountDetailsLineItemParams {
	all := lines(ch)
	if all == nil {
		return nil
	}
	return all.LineItems
}

// lineItem maps a line with a whole quantity. A line with another quantity becomes one piece.
func lineItem(l gateway.Line, currency payment.Currency) (*stripe.PaymentIntentCreateAmountDetailsLineItemParams, error) {
	quantity, err := strconv.ParseInt(l.Quantity, 10, 64)
	unit := l.UnitAmount
	if err != nil || quantity < 1 || unit < 0 || quantity*unit != l.Amount {
		quantity, unit = 1, l.Amount
	}
	cost, err := amount(payment.Money{Minor: unit, Currency: currency})
	if err != nil {
		return nil, err
	}
	item := &stripe.PaymentIntentCreateAmountDetailsLineItemParams{ProductName: &l.Description, Quantity: &quantity, UnitCost: &cost}
	if len(l.SKU) <= maxCode {
		item.ProductCode = text(l.SKU)
	}
	return item, nil
}
