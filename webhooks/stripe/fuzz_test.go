package stripe_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func FuzzVerify(f *testing.F) {
	for i, body := range []string{
		intentSucceeded, stripeBody("charge.refunded", chargeMembers+`,"amount_captured":1,"amount_refunded":9`),
		stripeBody("refund.updated", refundMembers+`,"status":"canceled"`), stripeBody("charge.dispute.closed", disputeMembers),
		stripeBody("checkout.session.completed", sessionMembers), stripeBody("payment_intent.payment_failed", `"payment_intent":{"id":1},"amount":1,"currency":"isk"`),
		`{"id":"evt_1","type":"x","created":"2026-03-14T15:09:26Z"}`, `{"id":"evt_1","type":"x","created":253402300800}`, ``,
	} {
		f.Add([]byte(body), uint(i*13), byte(1)<<(i%8))
	}
	v := newVerifier(f)
	f.Fuzz(func(t *testing.T, body []byte, place uint, mask byte) {
		d := providertest.Signed(t, v, string(body))
		providertest.Parse(t, v, d)
		providertest.Flip(t, v, d, []string{"Stripe-Signature"}, place, mask)
	})
}
