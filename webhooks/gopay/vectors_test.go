package gopay_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestPayloads(t *testing.T) {
	t.Parallel()
	providertest.Payloads(t, "gopay", queried{newVerifier(t)}, nil)
}
