package tbank_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/tbank"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	providertest.Vectors(t, "tbank", tbank.New)
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	providertest.Payloads(t, "tbank", newVerifier(t), nil)
}
