package webhooks

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/paylatch/paylatch/webhooks/internal/plain"
)

//go:generate go run ./internal/gencurrency -o currency_gen.go

// Money is an amount in the minor units of ISO 4217 (1999 EUR = 19.99 €), even if the provider uses another exponent for
// the currency. It is never negative. Currency is upper-case. If ISO 4217 does not list the currency, Minor is the
// provider's own number. No order has such a currency.
type Money struct {
	Minor    int64  `json:"minor"`
	Currency string `json:"currency"`
}

// MoneyOf turns a whole number of a provider's own minor units into Money. exponents names the currencies that have
// another number of digits at that provider than in ISO 4217; nil means that there are none. A number that is negative,
// not a whole number of ISO minor units, or too large wraps ErrPayload.
//
// A code that ISO 4217 does not have keeps the provider's number: there are no ISO minor units to turn it into, and a
// comparison of the currency with the order's finds the difference.
func MoneyOf(units int64, code string, exponents map[string]int) (Money, error) {
	code = strings.ToUpper(code)
	if units < 0 {
		return Money{}, fmt.Errorf("%w: negative amount of %s", ErrPayload, code)
	}
	digits, listed := isoDigits[code]
	if !listed {
		return Money{Minor: units, Currency: code}, nil
	}
	exponent, special := exponents[code]
	if !special {
		exponent = digits
	}
	return scaled(units, digits-exponent, code)
}

// Units is the inverse of [MoneyOf]. An amount that the provider has no digits for wraps ErrPayload.
func (m Money) Units(exponents map[string]int) (int64, error) {
	exponent, special := exponents[m.Currency]
	if !special {
		return m.Minor, nil
	}
	money, err := scaled(m.Minor, exponent-isoDigits[m.Currency], m.Currency)
	return money.Minor, err
}

// ParseDecimal turns a decimal text of major units ("19.99") into Money. Zeros beyond the digits of the currency are
// exact and accepted; anything else that is not plain digits with at most one point wraps ErrPayload, as does a
// currency that ISO 4217 does not have.
func ParseDecimal(text, code string) (Money, error) {
	code = strings.ToUpper(code)
	digits, listed := isoDigits[code]
	if !listed {
		return Money{}, fmt.Errorf("%w: unknown currency %q", ErrPayload, code)
	}
	if !plain.Decimal(text) {
		return Money{}, fmt.Errorf("%w: %q is not an amount", ErrPayload, text)
	}
	whole, fraction, _ := strings.Cut(text, ".")
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > digits {
		return Money{}, fmt.Errorf("%w: %q has more digits than %s", ErrPayload, text, code)
	}
	units, err := strconv.ParseInt(whole+fraction, 10, 64)
	if err != nil {
		return Money{}, fmt.Errorf("%w: amount of %s too large", ErrPayload, code)
	}
	return scaled(units, digits-len(fraction), code)
}

// scaled multiplies units by ten to the given power, exactly.
func scaled(units int64, power int, code string) (Money, error) {
	for ; power > 0; power-- {
		if units > math.MaxInt64/10 {
			return Money{}, fmt.Errorf("%w: amount of %s too large", ErrPayload, code)
		}
		units *= 10
	}
	for ; power < 0; power++ {
		if units%10 != 0 {
			return Money{}, fmt.Errorf("%w: amount has more digits than %s", ErrPayload, code)
		}
		units /= 10
	}
	return Money{Minor: units, Currency: code}, nil
}

// MoneyIn returns Amount as money of the payment's currency, nil if there is none. One that is not a whole number of
// ISO minor units wraps ErrPayload.
func (e Event) MoneyIn(currency string) (*Money, error) {
	if e.Amount == "" || currency == "" {
		return nil, nil
	}
	money, err := ParseDecimal(e.Amount, currency)
	if err != nil {
		return nil, err
	}
	return &money, nil
}

// Text is the amount as people write it, with its currency: "19.99 EUR", "500 JPY". Where that is not one of ISO 4217
// it is the provider's own number: "5 units of XYZ".
func (m Money) Text() string {
	if text, listed := m.Decimal(); listed {
		return text + " " + m.Currency
	}
	return strconv.FormatInt(m.Minor, 10) + " units of " + m.Currency
}

// Decimal is the amount in major units with all the digits of its currency: "19.99" of EUR, "500" of JPY. It is false
// where that is not one of ISO 4217.
func (m Money) Decimal() (string, bool) {
	digits, listed := isoDigits[m.Currency]
	if !listed {
		return "", false
	}
	text := strconv.FormatInt(m.Minor, 10)
	if digits == 0 {
		return text, true
	}
	sign := ""
	if m.Minor < 0 {
		sign, text = "-", text[1:]
	}
	if missing := digits + 1 - len(text); missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	return sign + text[:len(text)-digits] + "." + text[len(text)-digits:], true
}
