package adyen

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// lineItem is a line. Its amounts are those of one piece, and its percentage is in hundredths.
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

// linesOf returns the lines, or nil if Adyen's digits can't express an amount.
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

// wholes returns the line's quantity. It returns 1 if the amount or the tax is not a multiple of the quantity.
func wholes(l gateway.Line) int64 {
	quantity, err := strconv.ParseInt(l.Quantity, 10, 64)
	if err != nil || quantity < 1 || l.Amount%quantity != 0 || l.TaxAmount%quantity != 0 {
		return 1
	}
	return quantity
}

// hundredths returns a rate in Adyen's format: 0.19 is 1900.
func hundredths(rate string) int64 {
	whole, fraction, _ := strings.Cut(rate, ".")
	n, err := strconv.ParseInt(whole+(fraction + "0000")[:4], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// later returns the prefixes of the types for which Adyen requires lines.
func later() []string {
	return []string{"klarna", "afterpay", "clearpay", "affirm", "facilypay_", "ratepay", "riverty"}
}

// needsLines refuses a "buy now, pay later" method without lines.
func needsLines(n *kit.Needs, ch gateway.Charge, kind string) {
	for _, begins := range later() {
		n.If(strings.HasPrefix(kind, begins) && len(ch.Lines) == 0, "lines", "are required by Adyen for "+kind)
	}
}
