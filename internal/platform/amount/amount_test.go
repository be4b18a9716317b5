package amount_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/amount"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]payment.Money{
		"€19.99":         {Minor: 1999, Currency: "EUR"},
		"£0.05":          {Minor: 5, Currency: "GBP"},
		"US$19.99":       {Minor: 1999, Currency: "USD"},
		"CA$19.99":       {Minor: 1999, Currency: "CAD"},
		"A$19.99":        {Minor: 1999, Currency: "AUD"},
		"CHF 19.99":      {Minor: 1999, Currency: "CHF"},
		"PLN 19.90":      {Minor: 1990, Currency: "PLN"},
		"¥500":           {Minor: 500, Currency: "JPY"},
		"KWD 0.005":      {Minor: 5, Currency: "KWD"},
		"KWD 19.990":     {Minor: 19990, Currency: "KWD"},
		"UYW 1.2345":     {Minor: 12345, Currency: "UYW"},
		"-€0.05":         {Minor: -5, Currency: "EUR"},
		"-CHF 19.99":     {Minor: -1999, Currency: "CHF"},
		"€0.00":          {Currency: "EUR"},
		"€1,234,567.89":  {Minor: 123456789, Currency: "EUR"},
		"HUF 19.99":      {Minor: 1999, Currency: "HUF"},
		"ISK 1,999":      {Minor: 1999, Currency: "ISK"},
		"5 units of XYZ": {Minor: 5, Currency: "XYZ"},
		"0 units of ":    {},
	} {
		require.Equal(t, want, amount.Of(m))
	}
	require.Equal(t, "€19.99", amount.In("EUR", 1999))
}

// TestDigits holds each amount of each currency to the digits of package webhooks, and two currencies to two texts.
func TestDigits(t *testing.T) {
	t.Parallel()
	codes := []payment.Currency{"EUR", "USD", "CAD", "AUD", "NZD", "MXN", "JPY", "CNY", "KRW", "GBP", "CHF", "KWD", "BHD", "CLF", "INR", "RUB", "CZK", "XAF", "BRL", "HKD", "SGD", "TWD"}
	rapid.Check(t, func(t *rapid.T) {
		m := payment.Money{Minor: rapid.Int64Range(math.MinInt64, math.MaxInt64).Draw(t, "minor"), Currency: rapid.SampledFrom(codes).Draw(t, "currency")}
		digits, _ := m.Wire().Decimal()
		plain := strings.ReplaceAll(amount.Of(m), ",", "")
		require.True(t, strings.HasSuffix(plain, strings.TrimPrefix(digits, "-")), "%s for %s", plain, digits)
		require.Equal(t, m.Minor < 0, strings.HasPrefix(plain, "-"))
		for _, other := range codes {
			if other != m.Currency {
				require.NotEqual(t, amount.Of(m), amount.In(other, m.Minor))
			}
		}
	})
}
