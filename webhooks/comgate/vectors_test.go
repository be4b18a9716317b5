package comgate_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/comgate"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	providertest.Vectors(t, "comgate", comgate.New)
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	providertest.Payloads(t, "comgate", newVerifier(t), nil)
}
