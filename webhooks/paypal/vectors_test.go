package paypal_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/paypal"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	providertest.Vectors(t, "paypal", paypal.New, checksums)
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	providertest.Payloads(t, "paypal", newVerifier(t), nil)
}

// checksums checks the vectors with another checksum than the body's: the signature is over the one without a sign.
func checksums(t *testing.T, v providertest.Vector) bool {
	t.Helper()
	if v.CRCOverride == "" {
		return false
	}
	require.NotNil(t, v.BodyCRC32)
	unsigned := strconv.FormatUint(uint64(*v.BodyCRC32), 10)
	require.Equal(t, unsigned, paypal.ChecksumOf([]byte(v.Body)))
	require.NotEqual(t, unsigned, v.CRCOverride)
	for checksum, want := range map[string]bool{unsigned: true, v.CRCOverride: v.ExpectedValid} {
		made, err := paypal.Made([]byte(v.CertPEM), v.Headers, v.WebhookID, checksum)
		require.NoError(t, err)
		require.Equal(t, want, made, checksum)
	}
	return true
}
