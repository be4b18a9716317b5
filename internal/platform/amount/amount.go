// Package amount formats money for people. Examples: "€19.99", "US$5.00", "CHF 19.99", "¥500".
//
// There is one locale, English, for all pages, summaries and timelines: they are in English. The symbols and the order of the
// parts are CLDR's, with one exception: the dollar of the United States is "US$" as those of other countries are "CA$" and "A$",
// since support serves shops of several. A currency without a symbol keeps its code.
//
// The digits are those of ISO 4217, by package webhooks, and exact: nothing is rounded. Thousands are grouped, "€1,234.50". What
// programs read (the API's amounts, exports, forms) is not written by this package.
package amount

import (
	"strings"
	"sync"

	"github.com/bojanz/currency"

	"github.com/paylatch/paylatch/internal/payment"
)

// most is the largest number of digits behind the point of any currency.
const most = 4

var english = sync.OnceValue(func() *currency.Formatter { //nolint:gochecknoglobals // only read once it is made
	f := currency.NewFormatter(currency.NewLocale("en"))
	f.MaxDigits = most
	f.SymbolMap["USD"] = "US$"
	return f
})

// Of returns the amount with its currency's symbol, or with its code where it has none. Money in a currency that is not
// one of ISO 4217 is written as [payment.Money.String] does.
func Of(m payment.Money) string {
	digits, listed := m.Wire().Decimal()
	if !listed {
		return m.String()
	}
	a, err := currency.NewAmount(digits, string(m.Currency))
	if err != nil {
		return m.String()
	}
	return strings.ReplaceAll(english().Format(a), "\u00a0", " ")
}

// In returns an amount in minor units of a currency.
func In(c payment.Currency, minor int64) string {
	return Of(payment.Money{Minor: minor, Currency: c})
}
