package standard_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/standard"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	providertest.Vectors(t, "standardwebhooks", standard.New)
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	providertest.Payloads(t, "standardwebhooks", newVerifier(t), nil)
}
