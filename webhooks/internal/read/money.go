package read

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/plain"
)

var (
	errNotWhole = errors.New("not a whole number")
	errHalf     = errors.New("an amount without a currency, or a currency without an amount")
)

// countsMoney reports whether an unreadable amount makes an event of this kind unreadable. An event of these kinds without
// an amount counts for the whole payment, so that a dropped amount would be wrong. Elsewhere an odd amount is left out.
func countsMoney(k webhooks.Kind) bool {
	return k == webhooks.KindAuthorized || k == webhooks.KindSucceeded || k == webhooks.KindQuestion ||
		k == webhooks.KindRefundPending || k == webhooks.KindRefundSucceeded || k.IsMovement()
}

// WithUnits sets the event's money to a whole number of the provider's minor units, see [webhooks.MoneyOf]. Where the
// amount and the currency are absent there is none.
func WithUnits(e webhooks.Event, units *Integer, code Word, exponents map[string]int) (webhooks.Event, error) {
	switch {
	case units == nil && code == "":
		return e, nil
	case units == nil || code == "":
		return WithMoney(e, nil, fmt.Errorf("%w: %w", webhooks.ErrPayload, errHalf))
	case *units == unreadable:
		return WithMoney(e, nil, fmt.Errorf("%w: %w", webhooks.ErrPayload, errNotWhole))
	}
	money, err := webhooks.MoneyOf(int64(*units), string(code), exponents)
	if _, listed := money.Decimal(); err == nil && !listed {
		err = fmt.Errorf("%w: unknown currency %q", webhooks.ErrPayload, string(code))
	}
	return WithMoney(e, &money, err)
}

// WithUnitsText is WithUnits of a text of plain digits.
func WithUnitsText(e webhooks.Event, text, code string, exponents map[string]int) (webhooks.Event, error) {
	if text == "" {
		return WithUnits(e, nil, Word(code), exponents)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	units := Integer(n)
	if err != nil || !plain.Digits(text) {
		units = unreadable
	}
	return WithUnits(e, &units, Word(code), exponents)
}

// WithDecimal sets the event's money to a decimal text of major units. Where it and the currency are absent there is
// none.
func WithDecimal(e webhooks.Event, text, code string) (webhooks.Event, error) {
	money, err := Decimal(text, code)
	return WithMoney(e, money, err)
}

// Decimal is [webhooks.ParseDecimal], with nil where the text and the currency are absent.
func Decimal(text, code string) (*webhooks.Money, error) {
	switch {
	case text == "" && code == "":
		return nil, nil
	case text == "" || code == "":
		return nil, fmt.Errorf("%w: %w", webhooks.ErrPayload, errHalf)
	}
	money, err := webhooks.ParseDecimal(text, code)
	return &money, err
}

// WithMoney sets the event's money. An error is one of the event if its kind can't do without; it names the event's
// type.
func WithMoney(e webhooks.Event, money *webhooks.Money, err error) (webhooks.Event, error) {
	switch {
	case err == nil:
		e.Money = money
	case countsMoney(e.Kind):
		return e, fmt.Errorf("amount of %s: %w", e.Type, err)
	}
	return e, nil
}
