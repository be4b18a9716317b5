package kit

import (
	"errors"
	"fmt"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

var errNoAmount = errors.New("not an amount of its currency")

// Decimal formats money in major units with all of its currency's ISO 4217 digits
// ("19.99", "1999" of JPY), as many providers expect it. Money that it can't format is
// never sent: the error wraps gateway.ErrUnsupportedRequest.
func Decimal(m payment.Money) (string, error) {
	text, known := m.Wire().Decimal()
	if !known || m.Minor < 0 {
		return "", fmt.Errorf("%w: %d %q: %w", gateway.ErrUnsupportedRequest, m.Minor, m.Currency, errNoAmount)
	}
	return text, nil
}

// ReadDecimal parses the format of Decimal, also with fewer digits or more zeros. It returns an error for any other
// format and for a currency outside ISO 4217, and never rounds. The error does not wrap webhooks.ErrPayload, because the
// text does not come from a webhook.
func ReadDecimal(text, code string) (*payment.Money, error) {
	m, err := webhooks.ParseDecimal(text, code)
	if err != nil {
		return nil, fmt.Errorf("%q %q: %w", text, code, errNoAmount)
	}
	return &payment.Money{Minor: m.Minor, Currency: payment.Currency(m.Currency)}, nil
}
