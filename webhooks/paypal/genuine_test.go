package paypal_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func FuzzGenuine(f *testing.F) {
	providertest.Genuine(f, "paypal", newVerifier(f), nil,
		paypalBody,
		paypalEvent("CUSTOMER.DISPUTE.RESOLVED", `"status":"RESOLVED"`),
		paypalEvent("CHECKOUT.ORDER.COMPLETED", `"purchase_units":[{"payments":{"captures":[{"status":"COMPLETED"}]}}]`),
	)
}
