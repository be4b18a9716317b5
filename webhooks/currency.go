package webhooks

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

//go:generate go run ./internal/gencurrency -o currency_gen.go

// moneyOf turns a whole number of a provider's own minor units into Money.
// exponents names the currencies whose number of digits at that provider is not
// the one of ISO 4217; nil means that there are none. A number that is negative,
// not a whole number of ISO minor units, or too large wraps ErrPayload.
//
// A code that ISO 4217 does not have keeps the provider's number: there are no
// ISO minor units to turn it into, and whoever compares the currency will see
// that it is not the one of the order, which is better than to refuse the news.
func moneyOf(units int64, code string, exponents map[string]int) (Money, error) {
	code = strings.ToUpper(code)
	if units < 0 {
		return Money{}, fmt.Errorf("%w: negative amount of %s", ErrPayload, code)
	}
	digits, known := isoDigits[code]
	if !known {
		return Money{Minor: units, Currency: code}, nil
	}
	exponent, special := exponents[code]
	if !special {
		exponent = digits
	}
	return scaled(units, digits-exponent, code)
}

// ParseDecimal turns a decimal text of major units ("19.99") into Money.
// Zeros beyond the digits of the currency are exact and accepted; anything else
// that is not plain digits with at most one point wraps ErrPayload, as does a
// currency that ISO 4217 does not have.
func ParseDecimal(text, code string) (Money, error) {
	code = strings.ToUpper(code)
	digits, known := isoDigits[code]
	if !known {
		return Money{}, fmt.Errorf("%w: unknown currency %q", ErrPayload, code)
	}
	if !isDecimal(text) {
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

// isDigits reports whether s is one or more ASCII digits.
func isDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

// isDecimal reports whether text is plain digits with at most one point.
func isDecimal(text string) bool {
	whole, fraction, pointed := strings.Cut(text, ".")
	return isDigits(whole) && (!pointed || isDigits(fraction))
}

// moneyIn is moneyOf where the amount or the currency may be absent: then there
// is no money.
func moneyIn(units *integer, code string, exponents map[string]int) (*Money, error) {
	if units == nil || code == "" {
		return nil, nil
	}
	money, err := moneyOf(int64(*units), code, exponents)
	if err != nil {
		return nil, err
	}
	return &money, nil
}

// decimalMoneyIn is ParseDecimal where the amount or the currency may be
// absent.
func decimalMoneyIn(text, code string) (*Money, error) {
	if text == "" || code == "" {
		return nil, nil
	}
	money, err := ParseDecimal(text, code)
	if err != nil {
		return nil, err
	}
	return &money, nil
}

// minorMoneyIn is moneyIn where the number of minor units is a text of plain digits.
func minorMoneyIn(text, code string, exponents map[string]int) (*Money, error) {
	if text == "" || code == "" {
		return nil, nil
	}
	units, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !isDigits(text) {
		return nil, fmt.Errorf("%w: amount: %w", ErrPayload, errNotWhole)
	}
	whole := integer(units)
	return moneyIn(&whole, code, exponents)
}

// MoneyIn returns Amount as money of a currency, that of the payment; nil if there
// is none. One that is not a whole number of ISO minor units wraps ErrPayload.
func (e Event) MoneyIn(currency string) (*Money, error) { return decimalMoneyIn(e.Amount, currency) }

// withMoney returns the event with this money; an error is said to be of the
// event's type. It takes what moneyIn and its like return.
func (e Event) withMoney(money *Money, err error) (Event, error) {
	if err != nil {
		return Event{}, fmt.Errorf("amount of %s: %w", e.Type, err)
	}
	e.Money = money
	return e, nil
}

// Text is the amount as people write it, with its currency: "19.99 EUR", "500 JPY".
// Where that is not one of ISO 4217 the provider's own number is said to be one.
func (m Money) Text() string {
	if text, known := m.Decimal(); known {
		return text + " " + m.Currency
	}
	return strconv.FormatInt(m.Minor, 10) + " units of " + m.Currency
}

// Decimal is the amount in major units with all the digits of its currency:
// "19.99" of EUR, "500" of JPY. It is false where that is not one of ISO 4217.
func (m Money) Decimal() (string, bool) {
	digits, known := isoDigits[m.Currency]
	if !known {
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
