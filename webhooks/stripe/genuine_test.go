package stripe_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func FuzzGenuine(f *testing.F) {
	providertest.Genuine(f, "stripe", newVerifier(f), nil,
		intentSucceeded,
		stripeBody("charge.refunded", chargeMembers+`,"amount_captured":1,"amount_refunded":9`),
		stripeBody("checkout.session.completed", sessionMembers),
		stripeBody("charge.dispute.closed", disputeMembers),
	)
}
