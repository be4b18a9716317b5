package razorpay_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestDisputes(t *testing.T) {
	t.Parallel()
	of := func(event, members string) string {
		return razorpayBody("payment.dispute."+event, "dispute", razorpayDispute+`,"reason_code":"fraud","respond_by":1773766799`+members)
	}
	const rest = " for fraud of 39000 INR by 2026-03-17T16:59:59Z"
	providertest.Disputes(t, newVerifier(t), map[string]string{
		of("created", `,"phase":"retrieval"`):                     "disputed: disp_1 warning" + rest,
		of("created", `,"phase":"chargeback"`):                    "disputed: disp_1 open" + rest,
		of("action_required", ""):                                 "disputed: disp_1 open" + rest,
		of("under_review", ""):                                    "disputed: disp_1 under_review" + rest,
		of("won", ""):                                             "dispute_closed: disp_1 won" + rest,
		of("lost", `,"amount_deducted":100`):                      "chargeback: disp_1 lost" + rest,
		of("closed", `,"phase":"fraud"`):                          "dispute_closed: disp_1 won" + rest,
		of("closed", `,"phase":"chargeback","amount_deducted":1`): "disputed: none",
		razorpayBody("refund.processed", "refund", `"id":"rfnd_1","payment_id":"pay_1"`): "refund_succeeded: none",
	})
}
