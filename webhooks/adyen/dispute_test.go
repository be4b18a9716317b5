package adyen_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestDisputes(t *testing.T) {
	t.Parallel()
	of := func(code, success, status string) string {
		return adyenBody(adyenItem(code, success, `,"additionalData":{"disputeStatus":"`+status+`","chargebackReasonCode":" 4853",`+
			`"defensePeriodEndsAt":"2026-03-31T03:03:08+02:00"}`))
	}
	const rest = " for 4853 of 1999 EUR by 2026-03-31T01:03:08Z"
	providertest.Disputes(t, newVerifier(t), map[string]string{
		of("REQUEST_FOR_INFORMATION", "true", "Unresponded"):     "disputed: PSP1 warning" + rest,
		of("INFORMATION_SUPPLIED", "true", "Responded"):          "disputed: PSP1 warning" + rest,
		of("INFORMATION_SUPPLIED", "true", "Pending"):            "disputed: PSP1 under_review" + rest,
		of("NOTIFICATION_OF_CHARGEBACK", "true", ""):             "disputed: PSP1 open" + rest,
		of("NOTIFICATION_OF_CHARGEBACK", "true", "Pending"):      "disputed: PSP1 under_review" + rest,
		of("NOTIFICATION_OF_CHARGEBACK", "true", "Accepted"):     "dispute_closed: PSP1 accepted" + rest,
		of("NOTIFICATION_OF_CHARGEBACK", "true", "Won"):          "disputed: PSP1 open" + rest, // the status is not signed
		of("CHARGEBACK", "true", "Undefended"):                   "chargeback: PSP1 open" + rest,
		of("CHARGEBACK", "true", "Pending"):                      "chargeback: PSP1 under_review" + rest,
		of("CHARGEBACK", "true", "Accepted"):                     "chargeback: PSP1 accepted" + rest,
		of("CHARGEBACK", "true", "Lost"):                         "chargeback: PSP1 lost" + rest,
		of("CHARGEBACK", "true", "Won"):                          "chargeback: PSP1 open" + rest,
		of("CHARGEBACK", "false", ""):                            "disputed: PSP1 open" + rest,
		of("DISPUTE_DEFENSE_PERIOD_ENDED", "true", "Expired"):    "dispute_closed: PSP1 lost" + rest,
		of("DISPUTE_DEFENSE_PERIOD_ENDED", "true", "Pending"):    "disputed: PSP1 under_review" + rest,
		of("DISPUTE_DEFENSE_PERIOD_ENDED", "true", "Undefended"): "disputed: none",
		of("CHARGEBACK_REVERSED", "true", "Lost"):                "chargeback_reversed: PSP1 won" + rest,
		of("SECOND_CHARGEBACK", "true", "Won"):                   "chargeback: PSP1 lost" + rest,
		of("SECOND_CHARGEBACK", "perhaps", "Lost"):               "processing: none",
		of("PREARBITRATION_WON", "true", ""):                     "chargeback_reversed: PSP1 won" + rest,
		of("PREARBITRATION_LOST", "true", ""):                    "chargeback: PSP1 lost" + rest,
		of("NOTIFICATION_OF_FRAUD", "true", "Lost"):              "ignored: none",
		of("REFUND", "true", "Lost"):                             "refund_succeeded: none",

		adyenBody(adyenItem("REQUEST_FOR_INFORMATION", "true", `,"additionalData":{"rfiReasonCode":"6305"}`)): "disputed: PSP1 warning for 6305 of 1999 EUR",
	})
}
