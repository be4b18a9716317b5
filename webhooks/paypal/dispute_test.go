package paypal_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestDisputes(t *testing.T) {
	t.Parallel()
	of := func(event, members string) string {
		return paypalEvent("CUSTOMER.DISPUTE."+event, paypalDisputed+`,"dispute_id":"PP-D-1","reason":"UNAUTHORISED",`+
			`"seller_response_due_date":"2026-03-21T00:00:00Z",`+members)
	}
	const rest = " for UNAUTHORISED of 20 JPY by 2026-03-21T00:00:00Z"
	resolved := func(outcome string) string {
		return of("RESOLVED", `"status":"RESOLVED","dispute_outcome":{"outcome_code":"`+outcome+`","amount_refunded":{"currency_code":"JPY","value":"5"}}`)
	}
	providertest.Disputes(t, newVerifier(t), map[string]string{
		of("CREATED", `"dispute_life_cycle_stage":"INQUIRY"`):   "disputed: PP-D-1 warning" + rest,
		of("CREATED", `"status":"WAITING_FOR_SELLER_RESPONSE"`): "disputed: PP-D-1 open" + rest,
		of("UPDATED", `"status":"UNDER_REVIEW"`):                "disputed: PP-D-1 under_review" + rest,
		resolved("RESOLVED_BUYER_FAVOUR"):                       "chargeback: PP-D-1 lost" + rest,
		resolved("RESOLVED_SELLER_FAVOUR"):                      "dispute_closed: PP-D-1 won" + rest,
		resolved("CANCELED_BY_BUYER"):                           "dispute_closed: PP-D-1 won" + rest,
		resolved("RESOLVED_WITH_PAYOUT"):                        "disputed: none",
		of("UPDATED", `"status":"OTHER"`):                       "disputed: none",
		paypalEvent("CUSTOMER.DISPUTE.CREATED", paypalDisputed): "disputed: none",
	})
}
