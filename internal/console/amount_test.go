package console_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/console"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestParseMoney(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text     string
		currency payment.Currency
		minor    int64
		err      error
	}{
		{"5", "EUR", 500, nil},
		{" 5.00 ", "EUR", 500, nil},
		{"0.01", "EUR", 1, nil},
		{"19.999", "EUR", 0, console.ErrAmount},
		{"5", "JPY", 5, nil},
		{"5.5", "JPY", 0, console.ErrAmount},
		{"1.005", "KWD", 1005, nil},
		{"20.01", "EUR", 0, payment.ErrRefundExceeds},
		{"0", "EUR", 0, console.ErrAmount},
		{"0.00", "EUR", 0, console.ErrAmount},
		{"-1", "EUR", 0, console.ErrAmount},
		{"+1", "EUR", 0, console.ErrAmount},
		{"1e2", "EUR", 0, console.ErrAmount},
		{".5", "EUR", 0, console.ErrAmount},
		{"", "EUR", 0, console.ErrAmount},
		{"999999999999999999", "EUR", 0, console.ErrAmount},
	} {
		got, err := console.ParseMoney(c.text, payment.Money{Minor: 2000, Currency: c.currency})
		require.ErrorIs(t, err, c.err, "%q %s", c.text, c.currency)
		require.Equal(t, c.minor, got.Minor, "%q %s", c.text, c.currency)
	}
	require.Equal(t, "1.005", console.Decimal(payment.Money{Minor: 1005, Currency: "KWD"}))
	require.Equal(t, "5", console.Decimal(payment.Money{Minor: 5, Currency: "JPY"}))
}
