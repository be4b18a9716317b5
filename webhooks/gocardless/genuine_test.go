package gocardless_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func FuzzGenuine(f *testing.F) {
	providertest.Genuine(f, "gocardless", newVerifier(f), nil,
		gocardlessBody(gocardlessItem("EV1", "payments", "confirmed", gocardlessPayment), gocardlessItem("EV2", "refunds", "failed", gocardlessRefund)),
	)
}
