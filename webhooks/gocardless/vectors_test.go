package gocardless_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/gocardless"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	providertest.Vectors(t, "gocardless", gocardless.New)
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	providertest.Payloads(t, "gocardless", newVerifier(t), nil)
}
