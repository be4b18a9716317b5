package checkout_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func FuzzGenuine(f *testing.F) {
	providertest.Genuine(f, "checkout", newVerifier(f), nil,
		checkoutBody("payment_captured", checkoutPayment),
		checkoutBody("dispute_lost", checkoutDispute),
	)
}
