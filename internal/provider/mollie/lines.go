package mollie

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

type line struct {
	Type        string  `json:"type,omitempty"`
	Description string  `json:"description"`
	Quantity    int64   `json:"quantity"`
	UnitPrice   amount  `json:"unitPrice"`
	Total       amount  `json:"totalAmount"`
	VATRate     string  `json:"vatRate,omitempty"`
	VAT         *amount `json:"vatAmount,omitempty"`
	SKU         string  `json:"sku,omitempty"`
}

// maxSKU is Mollie's limit for the length of a SKU.
const maxSKU = 64

var types = map[gateway.LineType]string{ //nolint:gochecknoglobals // a table
	gateway.LinePhysical: "physical", gateway.LineDigital: "digital", gateway.LineService: "digital", gateway.LineShipping: "shipping_fee",
	gateway.LineDiscount: "discount", gateway.LineGiftCard: "gift_card", gateway.LineSurcharge: "surcharge",
}

func linesOf(ch gateway.Charge) ([]line, error) {
	var all []line
	for _, l := range ch.Lines {
		one, err := lineOf(l, ch.Money.Currency)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// lineOf maps a line with a whole quantity. A line with another quantity becomes one piece. At Mollie, a negative line
// is a discount, unless it is a gift card.
func lineOf(l gateway.Line, currency payment.Currency) (line, error) {
	quantity, err := strconv.ParseInt(l.Quantity, 10, 64)
	unit := l.UnitAmount
	if err != nil || quantity < 1 || quantity*unit != l.Amount {
		quantity, unit = 1, l.Amount
	}
	price, err := signed(unit, currency)
	if err != nil {
		return line{}, err
	}
	total, err := signed(l.Amount, currency)
	if err != nil {
		return line{}, err
	}
	one := line{Type: types[l.Type], Description: l.Description, Quantity: quantity, UnitPrice: price, Total: total}
	if l.Amount < 0 && l.Type != gateway.LineGiftCard {
		one.Type = types[gateway.LineDiscount]
	}
	if len(l.SKU) <= maxSKU {
		one.SKU = l.SKU
	}
	return one, one.tax(l, currency)
}

// tax adds the rate and the tax amount that Mollie calculates from it. Mollie refuses any other amount.
func (one *line) tax(l gateway.Line, currency payment.Currency) error {
	whole, fraction, _ := strings.Cut(l.TaxRate, ".")
	rate, err := strconv.ParseInt(whole+(fraction + "0000")[:4], 10, 64) // 1900 is 19 %
	if l.TaxRate == "" || err != nil {
		return nil //nolint:nilerr // without a rate there is no tax
	}
	one.VATRate = fmt.Sprintf("%d.%02d", rate/100, rate%100)
	of := max(l.Amount, -l.Amount)
	part := (2*of*rate + 10000 + rate) / (2 * (10000 + rate)) // rounded to the nearest unit
	if l.Amount < 0 {
		part = -part
	}
	vat, err := signed(part, currency)
	one.VAT = &vat
	return err
}

// signed returns an amount that may be negative.
func signed(minor int64, currency payment.Currency) (amount, error) {
	value, err := kit.Decimal(payment.Money{Minor: max(minor, -minor), Currency: currency})
	if minor < 0 {
		value = "-" + value
	}
	return amount{string(currency), value}, err
}

// invoiced returns the methods for which Mollie requires lines. Methods with a bill also require the customer.
func invoiced() []string {
	return []string{"billie", "in3", "klarna", "klarnapaylater", "klarnapaynow", "klarnasliceit", "riverty"}
}

func needsLines(n *kit.Needs, ch gateway.Charge) {
	bill := slices.Contains(invoiced(), ch.Token)
	n.If((bill || ch.Token == "billink" || ch.Token == "voucher") && len(ch.Lines) == 0, "lines", "are required by Mollie for "+ch.Token)
	if !bill {
		return
	}
	c := ch.Customer
	n.If(c.Email == "", "customer.email", "is required by Mollie for "+ch.Token)
	n.If(named(c).GivenName == "", "customer.name", "is required by Mollie for "+ch.Token+": a first and a last name")
	whole := c.Billing != nil && c.Billing.Line1 != "" && c.Billing.City != "" && c.Billing.PostalCode != "" && c.Billing.Country != ""
	n.If(!whole, "customer.billing_address", "is required by Mollie for "+ch.Token+": line1, city, postal_code and country")
}
