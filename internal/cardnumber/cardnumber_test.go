package cardnumber_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/internal/cardnumber"
)

func TestIn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"4111111111111111":               true,
		"378282246310005":                true,
		"30569309025904":                 true,
		"4222222222222":                  true,
		"6304000000000000000":            true,
		"2200000000000004":               true,
		"4111 1111 1111 1111":            true,
		"4111-1111-1111-1111":            true,
		"3782 822463 10005":              true,
		"3056 930902 5904":               true,
		"4111\u00a01111\u20131111 1111":  true,
		"6304 0000 0000 0000 000":        true,
		"my card is 4111 1111 1111 1111": true,
		"12 4111 1111 1111 1111 99":      true,
		"pan=4111111111111111;cvc=1":     true,
		"order_4111111111111111":         true,
		"A-4111111111111111":             true,
		"No4111111111111111x":            true,
		"1234.4111111111111111":          true,

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
		require.Equal(t, want, cardnumber.In(text), text)
	}
}

// Adyen's ids of stored payment methods are sixteen digits.
func TestInID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"4111111111111111": true, "card 3782 822463 10005": true,
		"8415698462516992": false, "8415698462516990": false, "7914072381840002": false,
	} {
		require.Equal(t, want, cardnumber.InID(text), text)
	}
}

// Whatever stands around a number, unless it makes it part of a longer one or of a
// hexadecimal word, it is found, and no UUID is taken for one.
func TestInAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := checked(rapid.StringMatching(`[0-9]{12,18}`).Draw(t, "digits"))
		before, after := rapid.StringMatching(`([^0-9]*[^0-9a-fA-F])?`).Draw(t, "before"), rapid.StringMatching(`([^0-9a-fA-F][^0-9]*)?`).Draw(t, "after")
		require.True(t, cardnumber.In(before+number+after), "%q", before+number+after)

		id := uuid.UUID(rapid.SliceOfN(rapid.SampledFrom([]byte{0x00, 0x11, 0x23, 0x42, 0x99, 0x90}), 16, 16).Draw(t, "id"))
		require.False(t, cardnumber.In(id.String()), id)
	})
}

// checked returns the digits with their check digit.
func checked(digits string) string {
	for d := range 10 {
		number := digits + string(rune('0'+d))
		if cardnumber.In(number) {
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
		if cardnumber.InID(text) {
			require.True(t, cardnumber.In(text))
		}
		if cardnumber.In(text) {
			digits := strings.Map(func(r rune) rune {
				if r < '0' || r > '9' {
					return -1
				}
				return r
			}, text)
			require.GreaterOrEqual(t, len(digits), 13)
			require.True(t, cardnumber.In("x "+text))
		}
	})
}
