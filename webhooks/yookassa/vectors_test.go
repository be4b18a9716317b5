package yookassa_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/yookassa"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	providertest.Vectors(t, "yookassa", yookassa.New)
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	providertest.Payloads(t, "yookassa", newVerifier(t), nil)
}
