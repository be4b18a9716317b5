package paddle_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/paddle"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	providertest.Vectors(t, "paddle", paddle.New)
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	providertest.Payloads(t, "paddle", newVerifier(t), nil)
}
