package webhooks_test

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/webhooks"
)

func TestISODigits(t *testing.T) {
	t.Parallel()
	for code, digits := range map[string]int{"EUR": 2, "JPY": 0, "KWD": 3, "ISK": 0, "UGX": 0, "MGA": 2, "HUF": 2, "CLF": 4} {
		require.Equal(t, digits, webhooks.ISODigits[code], code)
	}
}

func TestParseDecimal(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text, code string
		minor      int64
	}{
		{"19.99", "EUR", 1999},
		{"19.9", "eur", 1990},
		{"19", "EUR", 1900},
		{"0", "EUR", 0},
		{"007.50", "EUR", 750},
		{"100.000000", "RUB", 10000},
		{"500", "JPY", 500},
		{"500.00", "JPY", 500},
		{"5.124", "KWD", 5124},
		{"92233720368547758.07", "EUR", math.MaxInt64},
	} {
		money, err := webhooks.ParseDecimal(test.text, test.code)
		require.NoError(t, err, test.text)
		require.Equal(t, webhooks.Money{Minor: test.minor, Currency: strings.ToUpper(test.code)}, money)
	}
}

func TestParseDecimalRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", ".", "1.", ".5", "1,5", "1.2.3", "-1", "+1", "1e3", " 1", "0x1", "1_0", "NaN",
		"1.999", "0.001", "92233720368547758.08", "99999999999999999999", "9223372036854775807",
	} {
		_, err := webhooks.ParseDecimal(text, "EUR")
		require.ErrorIs(t, err, webhooks.ErrPayload, text)
	}
	_, err := webhooks.ParseDecimal("1", "XYZ")
	require.ErrorIs(t, err, webhooks.ErrPayload)
}

// TestMoneyIsExact compares both helpers with rational arithmetic.
func TestMoneyIsExact(t *testing.T) {
	t.Parallel()
	codes := slices.Sorted(func(yield func(string) bool) {
		for code := range webhooks.ISODigits {
			if !yield(code) {
				return
			}
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		code := rapid.SampledFrom(codes).Draw(rt, "code")
		exponent := rapid.IntRange(0, 6).Draw(rt, "exponent")
		units := rapid.Int64Min(0).Draw(rt, "units")
		value := new(big.Rat).SetFrac(big.NewInt(units), power(exponent))

		fromUnits, errUnits := webhooks.MoneyOf(units, code, map[string]int{code: exponent})
		fromText, errText := webhooks.ParseDecimal(value.FloatString(exponent), code)

		minor := new(big.Rat).Mul(value, new(big.Rat).SetInt(power(webhooks.ISODigits[code])))
		if !minor.IsInt() || !minor.Num().IsInt64() {
			require.ErrorIs(rt, errUnits, webhooks.ErrPayload)
			require.ErrorIs(rt, errText, webhooks.ErrPayload)
			return
		}
		want := webhooks.Money{Minor: minor.Num().Int64(), Currency: code}
		require.NoError(rt, errUnits)
		require.NoError(rt, errText)
		require.Equal(rt, want, fromUnits)
		require.Equal(rt, want, fromText)
	})
}

func power(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

func TestMoneyText(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]webhooks.Money{
		"19.99 EUR":                 {Minor: 1999, Currency: "EUR"},
		"0.05 EUR":                  {Minor: 5, Currency: "EUR"},
		"0.00 EUR":                  {Minor: 0, Currency: "EUR"},
		"-0.05 EUR":                 {Minor: -5, Currency: "EUR"},
		"500 JPY":                   {Minor: 500, Currency: "JPY"},
		"0.005 KWD":                 {Minor: 5, Currency: "KWD"},
		"1.0000 CLF":                {Minor: 10000, Currency: "CLF"},
		"5 units of XYZ":            {Minor: 5, Currency: "XYZ"},
		"92233720368547758.07 EUR":  {Minor: math.MaxInt64, Currency: "EUR"},
		"-92233720368547758.08 EUR": {Minor: math.MinInt64, Currency: "EUR"},
	} {
		require.Equal(t, want, m.Text())
	}
}
