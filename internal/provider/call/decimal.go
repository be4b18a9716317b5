package call

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/bojanz/currency"

	"github.com/paylatch/paylatch/internal/payment"
)

var errNoAmount = errors.New("not an amount of its currency")

// Decimal writes money in major units with all of its currency's ISO 4217 digits
// ("19.99", "1999" of JPY), as many providers want it. What can't be written is
// never sent: the error wraps payment.ErrUnfit.
func Decimal(m payment.Money) (string, error) {
	digits, known := currency.GetDigits(string(m.Currency))
	if !known || m.Minor < 0 {
		return "", fmt.Errorf("%w: %d %q: %w", payment.ErrUnfit, m.Minor, m.Currency, errNoAmount)
	}
	text := strconv.FormatInt(m.Minor, 10)
	if digits == 0 {
		return text, nil
	}
	if missing := int(digits) + 1 - len(text); missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	point := len(text) - int(digits)
	return text[:point] + "." + text[point:], nil
}

// ReadDecimal reads what Decimal writes, with fewer digits or with more zeros,
// too. Anything else, and a currency that ISO 4217 does not have, is an error and
// never rounded.
func ReadDecimal(text, code string) (*payment.Money, error) {
	code = strings.ToUpper(code)
	digits, known := currency.GetDigits(code)
	whole, fraction, pointed := strings.Cut(text, ".")
	if !known || !plain(whole) || pointed && !plain(fraction) {
		return nil, fmt.Errorf("%q %q: %w", text, code, errNoAmount)
	}
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > int(digits) {
		return nil, fmt.Errorf("%q %q: %w", text, code, errNoAmount)
	}
	fraction += strings.Repeat("0", int(digits)-len(fraction))
	minor, err := strconv.ParseUint(whole+fraction, 10, 64)
	if err != nil || minor > math.MaxInt64 {
		return nil, fmt.Errorf("%q %q: %w", text, code, errNoAmount)
	}
	return &payment.Money{Minor: int64(minor), Currency: payment.Currency(code)}, nil
}

func plain(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
