package gopay_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/gopay"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	providertest.Vectors(t, "gopay", gopay.New)
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	providertest.Payloads(t, "gopay", queried{newVerifier(t)}, nil)
}
