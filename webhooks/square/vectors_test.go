package square_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/square"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	providertest.Vectors(t, "square", square.New)
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	providertest.Payloads(t, "square", newVerifier(t), nil)
}
