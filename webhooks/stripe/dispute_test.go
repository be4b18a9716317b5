package stripe_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestDisputes(t *testing.T) {
	t.Parallel()
	const more = `,"reason":"fraudulent","evidence_details":{"due_by":1773766799}`
	of := func(event, status string) string {
		return stripeBody("charge.dispute."+event, disputeMembers+more+`,"status":"`+status+`"`)
	}
	const taken = `","balance_transactions":[{"id":"txn_1","amount":-2000,"currency":"eur"}]`
	const rest = " for fraudulent of 2000 EUR by 2026-03-17T16:59:59Z"
	providertest.Disputes(t, newVerifier(t), map[string]string{
		of("created", "warning_needs_response"):   "disputed: dp_1 warning" + rest,
		of("updated", "warning_under_review"):     "disputed: dp_1 warning" + rest,
		of("closed", "warning_closed"):            "dispute_closed: dp_1 won" + rest,
		of("created", "needs_response"):           "disputed: dp_1 open" + rest,
		of("funds_withdrawn", "needs_response"):   "chargeback: dp_1 open" + rest,
		of("updated", "under_review"):             "disputed: dp_1 under_review" + rest,
		of("closed", "won"):                       "dispute_closed: dp_1 won" + rest,
		of("funds_reinstated", "won"):             "chargeback_reversed: dp_1 won" + rest,
		of("closed", "lost"):                      "chargeback: dp_1 lost" + rest,
		of("closed", "prevented"):                 "dispute_closed: dp_1 won" + rest,
		of("funds_withdrawn", "prevented"):        "chargeback: dp_1 accepted" + rest,
		of("closed", "prevented"+taken+`,"x":"`):  "chargeback: dp_1 accepted" + rest,
		of("created", "prevented"+taken+`,"x":"`): "chargeback: dp_1 accepted" + rest,
		of("closed", "prevented"+taken[:len(taken)-1]+`,{"id":"txn_2","amount":2000,"currency":"eur"}],"x":"`): "dispute_closed: dp_1 won" + rest,
		of("updated", "some_day"): "disputed: none",

		stripeBody("charge.dispute.created", disputeMembers+`,"status":"needs_response","evidence_details":[]`): "disputed: dp_1 open of 2000 EUR",
		stripeBody("charge.refunded", chargeMembers+`,"amount_captured":1,"amount_refunded":1`):                 "refund_succeeded: none",
	})
}
