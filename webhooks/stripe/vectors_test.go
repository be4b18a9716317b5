package stripe_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/stripe"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	providertest.Vectors(t, "stripe", stripe.New)
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	providertest.Payloads(t, "stripe", newVerifier(t), nil)
}
