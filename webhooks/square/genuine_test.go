package square_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func FuzzGenuine(f *testing.F) {
	providertest.Genuine(f, "square", newVerifier(f), nil,
		squareBody("payment.updated", "payment", squarePaymentMembers+`,"status":"COMPLETED"`),
		squareBody("refund.updated", "refund", squareRefundMembers+`,"status":"FAILED"`),
	)
}
