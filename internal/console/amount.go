package console

import (
	"strings"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// Decimal writes an amount in major units, as it is typed.
func Decimal(m payment.Money) string {
	text, _ := m.Wire().Decimal()
	return text
}

// ParseMoney reads an amount in major units, exactly. The amount must not exceed left.
func ParseMoney(text string, left payment.Money) (payment.Money, error) {
	money, err := webhooks.ParseDecimal(strings.TrimSpace(text), string(left.Currency))
	switch {
	case err != nil || money.Minor <= 0:
		return payment.Money{}, ErrAmount
	case money.Minor > left.Minor:
		return payment.Money{}, payment.ErrRefundExceeds
	}
	return payment.Money{Minor: money.Minor, Currency: left.Currency}, nil
}
