package checkout_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestDisputes(t *testing.T) {
	t.Parallel()
	const more = `,"reason_code":"10.4","evidence_required_by":"2026-03-31T00:00:00Z"`
	of := func(event string) string { return checkoutBody("dispute_"+event, checkoutDispute+more) }
	const rest = " for 10.4 of 1999 EUR by 2026-03-31T00:00:00Z"
	providertest.Disputes(t, newVerifier(t), map[string]string{
		of("received"):           "disputed: dsp_1 open" + rest,
		of("evidence_required"):  "chargeback: dsp_1 open" + rest,
		of("evidence_submitted"): "disputed: dsp_1 under_review" + rest,
		of("won"):                "chargeback_reversed: dsp_1 won" + rest,
		of("arbitration_won"):    "chargeback_reversed: dsp_1 won" + rest,
		of("canceled"):           "chargeback_reversed: dsp_1 won" + rest,
		of("lost"):               "chargeback: dsp_1 lost" + rest,
		of("arbitration_lost"):   "chargeback: dsp_1 lost" + rest,
		of("expired"):            "chargeback: dsp_1 lost" + rest,
		of("accepted"):           "chargeback: dsp_1 accepted" + rest,

		checkoutBody("dispute_resolved", checkoutDispute+more+`,"resolved_reason":"rapid_dispute_resolution"`): "chargeback: dsp_1 accepted" + rest,
		checkoutBody("dispute_resolved", checkoutDispute+more+`,"resolved_reason":"already_refunded"`):         "dispute_closed: dsp_1 won" + rest,
		of("resolved"): "dispute_closed: dsp_1 won" + rest,

		checkoutBody("dispute_received", checkoutPayment):   "disputed: none", // without an id of its own
		checkoutBody("payment_chargeback", checkoutPayment): "disputed: none",
	})
}
