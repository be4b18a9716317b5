package razorpay_test

import (
	"encoding/hex"
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/razorpay"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	providertest.Vectors(t, "razorpay", razorpay.New, providertest.Texts("hmac-sha256 utf8", providertest.HeaderSum(razorpay.New, "X-Razorpay-Signature", hex.DecodeString)))
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	providertest.Payloads(t, "razorpay", newVerifier(t), nil)
}
