package adyen_test

import (
	"encoding/base64"
	"testing"

	"github.com/paylatch/paylatch/webhooks/adyen"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	providertest.Vectors(t, "adyen", adyen.New, providertest.Texts("hmac-sha256 hex", providertest.HeaderSum(adyen.New, "hmacSignature", base64.StdEncoding.DecodeString)))
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	providertest.Payloads(t, "adyen", newVerifier(t), nil)
}
