package lemonsqueezy_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func FuzzGenuine(f *testing.F) {
	providertest.Genuine(f, "lemonsqueezy", newVerifier(f), nil,
		lemonBody("order_created", `,"status":"paid"`),
		lemonBody("order_refunded", `,"refunded_amount":5`),
	)
}
