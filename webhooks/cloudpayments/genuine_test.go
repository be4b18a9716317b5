package cloudpayments_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func FuzzGenuine(f *testing.F) {
	providertest.Genuine(f, "cloudpayments", newVerifier(f), nil,
		`{"TransactionId":17,"Amount":19.99,"Currency":"RUB","Status":"Completed","Data":{"payment_attempt_id":7}}`,
	)
}
