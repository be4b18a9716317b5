package call

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/paylatch/paylatch/internal/payment"
)

// Digits says how many digits more than in ISO 4217 an amount has at a provider
// (CLP at one that counts in hundredths: 2), or how many fewer (negative).
// Currencies that are not in it have those of ISO 4217. It is for providers that
// take whole numbers.
type Digits map[payment.Currency]int

var errDigits = errors.New("an amount that has no whole number in the other digits")

// Units is the amount that the provider is told. One that it has no digits for
// wraps payment.ErrUnfit.
func (d Digits) Units(m payment.Money) (int64, error) {
	units, err := shift(m.Minor, d[m.Currency])
	if err != nil {
		return 0, fmt.Errorf("%w: %d %s: %w", payment.ErrUnfit, m.Minor, m.Currency, err)
	}
	return units, nil
}

// Money is what the provider's amount is in ISO minor units. It returns an error
// for one that is negative or none: it is never rounded.
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
