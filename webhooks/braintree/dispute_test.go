package braintree_test

import (
	"strings"
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestDisputes(t *testing.T) {
	t.Parallel()
	of := func(kind, disputeKind string) string {
		return strings.Replace(braintreeDispute(kind, disputeKind), "</kind><currency", "</kind><reason>fraud</reason>"+
			`<reply-by-date type="date">2026-03-21</reply-by-date><amount-won>5.00</amount-won><currency`, 1)
	}
	const rest = " for fraud of 2500 USD by 2026-03-21T00:00:00Z"
	providertest.Disputes(t, newVerifier(t), map[string]string{
		of("dispute_opened", "chargeback"):            "chargeback: d1 open" + rest,
		of("dispute_under_review", "chargeback"):      "disputed: d1 under_review" + rest,
		of("dispute_disputed", "pre_arbitration"):     "disputed: d1 under_review" + rest,
		of("dispute_won", "chargeback"):               "chargeback_reversed: d1 won" + rest,
		of("dispute_lost", "chargeback"):              "chargeback: d1 lost" + rest,
		of("dispute_expired", "chargeback"):           "chargeback: d1 lost" + rest,
		of("dispute_accepted", "chargeback"):          "chargeback: d1 accepted" + rest,
		of("dispute_auto_accepted", "chargeback"):     "chargeback: d1 accepted" + rest,
		of("dispute_opened", "retrieval"):             "disputed: d1 warning" + rest,
		of("dispute_under_review", "retrieval"):       "disputed: d1 warning" + rest,
		of("dispute_expired", "retrieval"):            "disputed: d1 warning" + rest,
		of("dispute_won", "retrieval"):                "dispute_closed: d1 won" + rest,
		braintreeDispute("dispute_won", "chargeback"): "chargeback_reversed: d1 won of 2500 USD",
	})
}
