package idempotency_test

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
)

func TestParseKey(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 200)
	for _, c := range []struct {
		name   string
		values []string
		want   string
		err    error
	}{
		{"none", nil, "", idempotency.ErrKeyMissing},
		{"empty", []string{""}, "", idempotency.ErrKeyMissing},
		{"blank", []string{" \t "}, "", idempotency.ErrKeyMissing},
		{"shortest", []string{"12345678"}, "12345678", nil},
		{"too short", []string{"1234567"}, "", idempotency.ErrKeyInvalid},
		{"longest", []string{long}, long, nil},
		{"too long", []string{long + "k"}, "", idempotency.ErrKeyInvalid},
		{"all characters", []string{"AZaz09-_.:~"}, "AZaz09-_.:~", nil},
		{"a UUID", []string{"8f14e45f-ceea-4e7b-9d3b-1f0c2a7d5b11"}, "8f14e45f-ceea-4e7b-9d3b-1f0c2a7d5b11", nil},
		{"spaces around", []string{"  12345678\t"}, "12345678", nil},
		{"quoted", []string{`"12345678"`}, "12345678", nil},
		{"quoted, longest", []string{`"` + long + `"`}, long, nil},
		{"quoted, too short", []string{`"1234567"`}, "", idempotency.ErrKeyInvalid},
		{"quoted, empty", []string{`""`}, "", idempotency.ErrKeyInvalid},
		{"a quote", []string{`"`}, "", idempotency.ErrKeyInvalid},
		{"half quoted", []string{`"12345678`}, "", idempotency.ErrKeyInvalid},
		{"half quoted at the end", []string{`12345678"`}, "", idempotency.ErrKeyInvalid},
		{"quoted twice", []string{`""12345678""`}, "", idempotency.ErrKeyInvalid},
		{"escaped", []string{`"1234\"5678"`}, "", idempotency.ErrKeyInvalid},
		{"with a parameter", []string{`"12345678";a=1`}, "", idempotency.ErrKeyInvalid},
		{"space inside the quotes", []string{`" 12345678"`}, "", idempotency.ErrKeyInvalid},
		{"space inside", []string{"1234 5678"}, "", idempotency.ErrKeyInvalid},
		{"a list", []string{"12345678, 12345679"}, "", idempotency.ErrKeyInvalid},
		{"twice", []string{"12345678", "12345678"}, "", idempotency.ErrKeyInvalid},
		{"twice, one empty", []string{"", "12345678"}, "", idempotency.ErrKeyInvalid},
		{"a letter of another script", []string{"1234567а"}, "", idempotency.ErrKeyInvalid},
		{"full width", []string{"１２３４５６７８"}, "", idempotency.ErrKeyInvalid},
		{"not UTF-8", []string{"12345678\xff"}, "", idempotency.ErrKeyInvalid},
		{"NUL", []string{"12345678\x00"}, "", idempotency.ErrKeyInvalid},
		{"a slash", []string{"1234/5678"}, "", idempotency.ErrKeyInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := idempotency.ParseKey(c.values)
			require.ErrorIs(t, err, c.err)
			require.Equal(t, idempotency.Key(c.want), got)
		})
	}
}

func FuzzParseKey(f *testing.F) {
	for _, seed := range []string{"12345678", `"12345678"`, `"`, `""`, " 12345678 ", "1234567\xff", `"1234\"5678"`, strings.Repeat("k", 201)} {
		f.Add(seed)
	}
	whole := regexp.MustCompile(`^[A-Za-z0-9\-_.:~]{8,200}$`)
	f.Fuzz(func(t *testing.T, value string) {
		key, err := idempotency.ParseKey([]string{value})
		if err != nil {
			require.Empty(t, key)
			require.NotRegexp(t, whole, value)
			return
		}
		require.Regexp(t, whole, string(key))
		bare, err := idempotency.ParseKey([]string{string(key)})
		require.NoError(t, err)
		quoted, err := idempotency.ParseKey([]string{`"` + string(key) + `"`})
		require.NoError(t, err)
		require.Equal(t, bare, quoted, "both forms are one key")
	})
}

func TestKeyOf(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]error{
		"": nil, "?a=key-00000001": nil, "?idempotency_key=x": idempotency.ErrKeyInQuery, "?Idempotency-Key=x": idempotency.ErrKeyInQuery,
	} {
		r := httptest.NewRequest(http.MethodPost, "/orders"+query, nil)
		_, err := idempotency.KeyOf(r)
		require.ErrorIs(t, err, cmp.Or(want, idempotency.ErrKeyMissing), query)
		r.Header.Set(idempotency.HeaderKey, "key-00000001")
		_, err = idempotency.KeyOf(r)
		require.ErrorIs(t, err, want, query)
	}
}
