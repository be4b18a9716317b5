package kit

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Digits maps a currency to the number of decimals that a provider uses beyond those of ISO 4217 (CLP in hundredths: 2),
// negative for fewer. Other currencies have the decimals of ISO 4217. It is for providers with integer amounts.
type Digits map[payment.Currency]int

var errDigits = errors.New("an amount that has no whole number in the other digits")

// Units returns the amount in the provider's units. The error for an amount with too many digits wraps gateway.ErrUnsupportedRequest.
func (d Digits) Units(m payment.Money) (int64, error) {
	units, err := shift(m.Minor, d[m.Currency])
	if err != nil {
		return 0, fmt.Errorf("%w: %d %s: %w", gateway.ErrUnsupportedRequest, m.Minor, m.Currency, err)
	}
	return units, nil
}

// Money converts the provider's amount to ISO minor units. It returns an error for a negative or fractional amount, and
// never rounds.
func (d Digits) Money(units int64, currency string) (*payment.Money, error) {
	code := payment.Currency(strings.ToUpper(currency))
	minor, err := shift(units, -d[code])
	if err != nil || units < 0 || code == "" {
		return nil, fmt.Errorf("%d %s: %w", units, code, errDigits)
	}
	return &payment.Money{Minor: minor, Currency: code}, nil
}

// shift multiplies by ten to the given power, exactly.
func shift(n int64, power int) (int64, error) {
	for ; power > 0; power-- {
		if n > math.MaxInt64/10 {
			return 0, errDigits
		}
		n *= 10
	}
	for ; power < 0; power++ {
		if n%10 != 0 {
			return 0, errDigits
		}
		n /= 10
	}
	return n, nil
}
