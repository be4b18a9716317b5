package square_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestDisputes(t *testing.T) {
	t.Parallel()
	const more = `,"reason":"NOT_RECEIVED","due_at":"2026-03-21T00:00:00.000Z"`
	of := func(state string) string {
		return squareBody("dispute.state.updated", "dispute", squareDisputeMembers+more+`,"state":"`+state+`"`)
	}
	const rest = " for NOT_RECEIVED of 2000 USD by 2026-03-21T00:00:00Z"
	providertest.Disputes(t, newVerifier(t), map[string]string{
		of("INQUIRY_EVIDENCE_REQUIRED"): "disputed: x-1 warning" + rest,
		of("INQUIRY_PROCESSING"):        "disputed: x-1 warning" + rest,
		of("INQUIRY_CLOSED"):            "dispute_closed: x-1 won" + rest,
		of("EVIDENCE_REQUIRED"):         "chargeback: x-1 open" + rest,
		of("PROCESSING"):                "chargeback: x-1 under_review" + rest,
		of("WON"):                       "chargeback_reversed: x-1 won" + rest,
		of("LOST"):                      "chargeback: x-1 lost" + rest,
		of("ACCEPTED"):                  "chargeback: x-1 accepted" + rest,
		of("SOME_DAY"):                  "disputed: none",
		squareBody("dispute.created", "dispute", `"dispute_id":"x-0","state":"EVIDENCE_REQUIRED"`): "chargeback: x-0 open",
	})
}
