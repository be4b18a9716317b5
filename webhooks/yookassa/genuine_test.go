package yookassa_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func FuzzGenuine(f *testing.F) {
	providertest.Genuine(f, "yookassa", newVerifier(f), nil,
		yookassaBody("payment.canceled", `,"cancellation_details":{"reason":"expired_on_capture"},"metadata":{"payment_attempt_id":"att_1"}`),
		yookassaBody("refund.succeeded", `,"payment_id":"pay-0","created_at":"2026-03-14T15:09:20Z"`),
		`{"event":"payout.succeeded","object":7}`,
	)
}
