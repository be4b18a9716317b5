package checkout_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/checkout"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	providertest.Vectors(t, "checkout", checkout.New)
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	providertest.Payloads(t, "checkout", newVerifier(t), nil)
}
