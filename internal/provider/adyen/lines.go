package adyen

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// lineItem is a line; amounts are those of one item, the percentage in hundredths.
type lineItem struct {
	ID           string `json:"id"`
	Description  string `json:"description"`
	Quantity     int64  `json:"quantity"`
	IncludingTax int64  `json:"amountIncludingTax"`
	ExcludingTax int64  `json:"amountExcludingTax"`
	Tax          int64  `json:"taxAmount"`
	Percentage   int64  `json:"taxPercentage"`
	SKU          string `json:"sku,omitempty"`
}

// linesOf is nil if a line has an amount that Adyen has no digits for.
func linesOf(ch gateway.Charge) []lineItem {
	var all []lineItem
	for i, l := range ch.Lines {
		quantity := wholes(l)
		with, err := units(l.Amount/quantity, ch.Money.Currency)
		tax, taxErr := units(l.TaxAmount/quantity, ch.Money.Currency)
		if err != nil || taxErr != nil {
			return nil
		}
		all = append(all, lineItem{
			ID: cmp.Or(l.SKU, strconv.Itoa(i+1)), Description: l.Description, Quantity: quantity, IncludingTax: with, ExcludingTax: with - tax, Tax: tax,
			Percentage: hundredths(l.TaxRate), SKU: l.SKU,
		})
	}
	return all
}

func units(minor int64, currency payment.Currency) (int64, error) {
	return digits.Units(payment.Money{Minor: minor, Currency: currency})
}

// wholes is a line's quantity, or 1 where its amount or its tax is not a multiple of it.
func wholes(l gateway.Line) int64 {
	quantity, err := strconv.ParseInt(l.Quantity, 10, 64)
	if err != nil || quantity < 1 || l.Amount%quantity != 0 || l.TaxAmount%quantity != 0 {
		return 1
	}
	return quantity
}

// hundredths is a rate as Adyen has it: 0.19 is 1900.
func hundredths(rate string) int64 {
	whole, fraction, _ := strings.Cut(rate, ".")
	n, err := strconv.ParseInt(whole+(fraction + "0000")[:4], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// later are the beginnings of the types that Adyen requires lines for.
func later() []string {
	return []string{"klarna", "afterpay", "clearpay", "affirm", "facilypay_", "ratepay", "riverty"}
}

// needsLines refuses a method of the kind "buy now, pay later" without lines.
func needsLines(n *call.Needs, ch gateway.Charge, kind string) {
	for _, begins := range later() {
		n.If(strings.HasPrefix(kind, begins) && len(ch.Lines) == 0, "lines", "are required by Adyen for "+kind)
	}
}
