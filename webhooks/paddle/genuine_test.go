package paddle_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func FuzzGenuine(f *testing.F) {
	providertest.Genuine(f, "paddle", newVerifier(f), nil,
		paddleBody("transaction.completed", paddleTransaction),
		paddleBody("adjustment.updated", paddleAdjustment+`,"action":"refund","status":"approved"`),
	)
}
