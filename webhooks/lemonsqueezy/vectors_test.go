package lemonsqueezy_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/lemonsqueezy"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	providertest.Vectors(t, "lemonsqueezy", lemonsqueezy.New)
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	providertest.Payloads(t, "lemonsqueezy", newVerifier(t), nil)
}
