package read

import (
	"fmt"
	"strconv"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/plain"
)

// WithUnits sets the event's money to a whole number of the provider's minor units, see [webhooks.MoneyOf]. Where the
// amount or the currency is absent there is none.
func WithUnits(e webhooks.Event, units *Integer, code string, exponents map[string]int) (webhooks.Event, error) {
	if units == nil || code == "" {
		return e, nil
	}
	money, err := webhooks.MoneyOf(int64(*units), code, exponents)
	return WithMoney(e, &money, err)
}

// WithUnitsText is WithUnits of a text of plain digits.
func WithUnitsText(e webhooks.Event, text, code string, exponents map[string]int) (webhooks.Event, error) {
	if text == "" || code == "" {
		return e, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !plain.Digits(text) {
		return WithMoney(e, nil, fmt.Errorf("%w: amount: %w", webhooks.ErrPayload, errNotWhole))
	}
	units := Integer(n)
	return WithUnits(e, &units, code, exponents)
}

// WithDecimal sets the event's money to a decimal text of major units. Where it or the currency is absent there is none.
func WithDecimal(e webhooks.Event, text, code string) (webhooks.Event, error) {
	money, err := Decimal(text, code)
	return WithMoney(e, money, err)
}

// Decimal is [webhooks.ParseDecimal], with nil where the text or the currency is absent.
func Decimal(text, code string) (*webhooks.Money, error) {
	return webhooks.Event{Amount: text}.MoneyIn(code)
}

// WithMoney sets the event's money; an error names the event's type.
func WithMoney(e webhooks.Event, money *webhooks.Money, err error) (webhooks.Event, error) {
	if err != nil {
		return webhooks.Event{}, fmt.Errorf("amount of %s: %w", e.Type, err)
	}
	e.Money = money
	return e, nil
}
