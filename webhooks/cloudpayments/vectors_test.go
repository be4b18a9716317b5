package cloudpayments_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/cloudpayments"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	providertest.Vectors(t, "cloudpayments", cloudpayments.New)
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	providertest.Payloads(t, "cloudpayments", newVerifier(t), cloudPaymentsSample)
}
