package braintree_test

import (
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks/braintree"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	providertest.Vectors(t, "braintree", braintree.New, providertest.Texts("hmac-sha1 sha1", challenged))
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	providertest.Payloads(t, "braintree", newVerifier(t), nil)
}

// challenged returns the sum in the response to the vector's address. The text is the address's challenge.
func challenged(t *testing.T, v providertest.Vector) []byte {
	t.Helper()
	require.Equal(t, "/webhook?bt_challenge="+v.SignedString, v.URL)
	ack, ok := providertest.Made(t, braintree.New, v.Config(t)).Challenge(v.Delivery(t))
	require.True(t, ok)
	require.Equal(t, http.StatusOK, ack.Status)
	public, text, _ := strings.Cut(string(ack.Body), "|")
	require.Equal(t, v.PublicKey, public)
	sum, err := hex.DecodeString(text)
	require.NoError(t, err)
	return sum
}
