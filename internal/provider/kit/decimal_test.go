package kit_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

func TestDecimalHasTheDigitsOfTheCurrency(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]payment.Money{
		"19.99": {Minor: 1999, Currency: "EUR"}, "0.05": {Minor: 5, Currency: "RUB"}, "0.00": {Minor: 0, Currency: "RUB"},
		"1.00": {Minor: 100, Currency: "RUB"}, "1999": {Minor: 1999, Currency: "JPY"}, "0.005": {Minor: 5, Currency: "KWD"},
		"92233720368547758.07": {Minor: math.MaxInt64, Currency: "EUR"},
	} {
		got, err := kit.Decimal(m)
		require.NoError(t, err)
		require.Equal(t, want, got)
		back, err := kit.ReadDecimal(got, string(m.Currency))
		require.NoError(t, err)
		require.Equal(t, m, *back)
	}
	for _, m := range []payment.Money{{Minor: 1, Currency: "XYZ"}, {Minor: 1}, {Minor: -1, Currency: "EUR"}} {
		_, err := kit.Decimal(m)
		require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	}
}

func TestReadDecimalNeverRounds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"19.99": 1999, "19.9": 1990, "19": 1900, "19.9900": 1999, "0019.99": 1999, "0": 0} {
		got, err := kit.ReadDecimal(text, "eur")
		require.NoError(t, err, text)
		require.Equal(t, payment.Money{Minor: want, Currency: "EUR"}, *got, text)
	}
	for _, text := range []string{"", ".", "19.", ".99", "19.999", "-1", "+1", "1e3", "1,5", " 1", "19.9 ", "١", "92233720368547758.08", "1.2.3"} {
		_, err := kit.ReadDecimal(text, "EUR")
		require.Error(t, err, text)
	}
	_, err := kit.ReadDecimal("1.5", "JPY")
	require.Error(t, err)
	_, err = kit.ReadDecimal("1", "XYZ")
	require.Error(t, err)
}
