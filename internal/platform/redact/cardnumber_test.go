package redact_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/internal/platform/redact"
)

func TestIn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"4111111111111111":                true,
		"378282246310005":                 true,
		"30569309025904":                  true,
		"4222222222222":                   true,
		"6304000000000000000":             true,
		"2200000000000004":                true,
		"4111 1111 1111 1111":             true,
		"4111-1111-1111-1111":             true,
		"3782 822463 10005":               true,
		"3056 930902 5904":                true,
		"4111\u00a01111\u20131111 1111":   true,
		"6304 0000 0000 0000 000":         true,
		"my card is 4111 1111 1111 1111":  true,
		"12 4111 1111 1111 1111 99":       true,
		"pan=4111111111111111;cvc=1":      true,
		"order_4111111111111111":          true,
		"A-4111111111111111":              true,
		"No4111111111111111x":             true,
		"1234.4111111111111111":           true,
		"4111.1111.1111.1111":             true,
		"4111_1111/1111 - 1111":           false, // three between them
		"4111_1111/1111- 1111":            true,
		"4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1": true,
		"4-1-1-1-1-1-1-1-1-1-1-1-1-1-1-1": true,
		"4111\n1111\n1111\n1111":          true,
		"41\u200b1111\u200b1111111111":    true,
		"\uff14\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11\uff11": true,
		"\u0664\u0661\u0661\u0661 1111 \u0967\u0967\u0967\u0967 \u2460\u00b9\u2081\U0001d7cf":              true,
		"+378282246310005":    true,
		"+3782 822463 10005":  true,
		"tel:+30569309025904": true,

		"cart-77-1796000000002":            false,
		"1796000000002":                    false,
		"+4915771234569":                   false, // a telephone number of 13 digits
		"+4222222222222":                   false,
		"+49 1577 1234569":                 false,
		"490154203237518":                  false, // an IMEI
		"356938035643809":                  false,
		"869710030002905":                  false,
		"9780306406157":                    false, // an ISBN, as EAN-13
		"1234567890123452":                 false, // no network's
		"7992739871300003":                 false,
		"2026-11-25 05:58:34.123456+02:00": false,
		"192.168.100.200 10.0.0.1":         false,

		"4111111111111112":                     false,
		"411111111111":                         false,
		"41111111111111111111":                 false, // 20 digits
		"4111 1111 1111 1112":                  false,
		"411111****1111":                       false,
		"0a4111111111111111f":                  false, // a hexadecimal id
		"12345678-4111-1111-1111-111100000000": false,
		"4111111111111111-":                    true,
		"+49 170 123 45 67":                    false,
		"2026-11-24 05:58:34.000000":           false,
		"":                                     false,
	} {
		require.Equal(t, want, redact.CardNumberIn(text), text)
	}
}

// TestInEveryScript: digits of all scripts are read, and each range of them begins with a zero.
func TestInEveryScript(t *testing.T) {
	t.Parallel()
	scripts := 0
	rangetable := func(lo, hi rune) {
		for zero := lo; zero < hi; zero += 10 {
			scripts++
			number := strings.Map(func(d rune) rune { return zero + d - '0' }, "5555555555554444")
			require.True(t, redact.CardNumberIn(number), number)
			require.False(t, redact.CardNumberIn(number[:len(number)-len(string(zero))]+string(zero)), number)
		}
		require.Equal(t, int32(9), (hi-lo)%10, "%x", lo)
	}
	for _, in := range unicode.Nd.R16 {
		rangetable(rune(in.Lo), rune(in.Hi))
	}
	for _, in := range unicode.Nd.R32 {
		rangetable(rune(in.Lo), rune(in.Hi))
	}
	require.Greater(t, scripts, 60)
}

// TestInNumbersOfNoNetwork: of 13 digits only Visa has numbers, and no number begins with 0 or 1.
func TestInNumbersOfNoNetwork(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		require.False(t, redact.CardNumberIn(rapid.StringMatching(`[0-35-9][0-9]{12}`).Draw(t, "13 digits")))
		require.False(t, redact.CardNumberIn(rapid.StringMatching(`[01][0-9]{11,17}`).Draw(t, "digits")))
	})
}

// A number is found within any text, unless the text makes it part of a longer number or of a hexadecimal word. No UUID counts
// as a number.
func TestInAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := checked(rapid.StringMatching(`(4[0-9]{14}|4[0-9]{17}|5[1-5][0-9]{13}|3[47][0-9]{12}|6[0-9]{14,17}|36[0-9]{11,16})`).Draw(t, "digits"))
		before, after := rapid.StringMatching(`([ -/:-~а-яß-ÿ\x{200b}]*[ -/:-@G-Zg-zа-я])?`).Draw(t, "before"), rapid.StringMatching(`([ -/:-@G-Zg-zа-я][ -/:-~а-яß-ÿ\x{200b}]*)?`).Draw(t, "after")
		require.True(t, redact.CardNumberIn(before+number+after), "%q", before+number+after)

		id := uuid.UUID(rapid.SliceOfN(rapid.SampledFrom([]byte{0x00, 0x11, 0x23, 0x42, 0x99, 0x90}), 16, 16).Draw(t, "id"))
		require.False(t, redact.CardNumberIn(id.String()), id)
	})
}

// checked returns the digits with their check digit.
func checked(digits string) string {
	for d := range 10 {
		number := digits + string(rune('0'+d))
		if redact.CardNumberIn(number) {
			return number
		}
	}
	panic("one of ten passes")
}

func FuzzIn(f *testing.F) {
	for _, text := range []string{"4111111111111111", "4111-1111 1111\u20131111", "3782 822463 10005", "\xff4111 1111", "0a4111111111111111f"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if redact.CardNumberIn(text) {
			digits := strings.Map(func(r rune) rune {
				if !unicode.IsNumber(r) {
					return -1
				}
				return '0'
			}, norm.NFKC.String(text))
			require.GreaterOrEqual(t, len(digits), 13)
			require.True(t, redact.CardNumberIn("x: "+text))
		}
	})
}
