package checkout_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func FuzzGenuine(f *testing.F) {
	providertest.Genuine(f, "checkout", newVerifier(f), false,
		checkoutBody("payment_captured", checkoutPayment),
		checkoutBody("dispute_lost", checkoutDispute),
	)
}
