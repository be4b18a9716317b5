package mollie_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/mollie"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	providertest.Vectors(t, "mollie", mollie.New)
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	providertest.Payloads(t, "mollie", newVerifier(t), nil)
}
