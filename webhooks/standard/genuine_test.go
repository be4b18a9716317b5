package standard_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func FuzzGenuine(f *testing.F) {
	providertest.Genuine(f, "standardwebhooks", newVerifier(f), nil,
		chargeSucceeded,
		`{"type":"refund.failed","data":{"refund_id":"re_1","amount":0,"currency":"jpy"}}`,
	)
}
