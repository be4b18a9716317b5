package mollie_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func FuzzGenuine(f *testing.F) {
	providertest.Genuine(f, "mollie", newVerifier(f), nil,
		mollieBody("payment.paid", "tr_1", mollieSnapshot),
		mollieBody("refund.failed", "re_1", ""),
	)
}
