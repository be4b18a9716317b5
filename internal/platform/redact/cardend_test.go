package redact_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/redact"
)

func TestCardEnd(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"resource": {"payment_source": {"card": {"last_digits": "4242", "brand": "VISA"}}}}`:            "4242",
		`{"data": {"object": {"payment_method_details": {"card": {"last4": "4242", "exp_year": 2030}}}}}`: "4242",
		`{"card": {"lastFour": 4242}}`:                                    "4242",
		`{"additionalData": {"cardSummary": "1111"}}`:                     "1111",
		`Pan=430000%2A%2A%2A%2A%2A%2A0777&Amount=100`:                     "0777",
		`CardLastFour=1111&CardFirstSix=411111`:                           "1111",
		`<n><card><last-4>4242</last-4></card></n>`:                       "4242",
		`{"a": {"last4": "4242"}, "b": [{"last4": "4242"}]}`:              "4242",
		`{"a": {"last4": "4242"}, "b": {"last4": "1111"}}`:                "", // of two cards
		`{"last4": "424"}`:                                                "",
		`{"year": "2030", "amount": 4242, "id": "4242", "phone": "4242"}`: "",
		`{"last4": `: "",
		``:           "",
	} {
		require.Equal(t, want, redact.CardEnd([]byte(body)), body)
	}
}

// The published samples that show a card show its end.
func TestCardEndOfSamples(t *testing.T) {
	t.Parallel()
	bodies := payloads(t)
	found := 0
	for _, body := range bodies {
		if redact.CardEnd([]byte(body)) != "" {
			found++
		}
	}
	require.Greater(t, found, 5)
	require.Equal(t, "0777", redact.CardEnd([]byte(bodies["tbank/authorized_docs_signed.json"])))
	require.Equal(t, "1111", redact.CardEnd([]byte(bodies["cloudpayments/pay.params.json"])))
}
