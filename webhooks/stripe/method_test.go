package stripe_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestStored(t *testing.T) {
	t.Parallel()
	const card = `"id":"pm_1","object":"payment_method","type":"card","card":{"brand":"visa","last4":"4242","exp_month":1,"exp_year":2030}`
	const updated = "method_updated: pm_1 card visa •••• 4242 2030-01"
	reviewed := func(members string) string {
		return `"id":"prv_1","object":"review","payment_intent":"pi_1","charge":"ch_1",` + members
	}
	bodies := map[string]string{
		stripeBody("payment_method.updated", card):               updated,
		stripeBody("payment_method.automatically_updated", card): updated,
		stripeBody("payment_method.detached", card):              "method_removed: pm_1 card visa •••• 4242 2030-01",
		stripeBody("payment_method.attached", card):              "ignored:",
		stripeBody("payment_method.updated", `"id":"pm_1","object":"payment_method","type":"card","card":{"exp_month":"x","last4":7}`):            "method_updated: pm_1 card",
		stripeBody("payment_method.updated", `"id":"pm_1","object":"payment_method","type":"sepa_debit","sepa_debit":{"last4":"3000"}`):           "method_updated: pm_1 sepa_debit •••• 3000",
		stripeBody("payment_method.updated", `"id":"pm_1","type":"us_bank_account","us_bank_account":{"bank_name":"TEST BANK","last4":"6789"}`):   "method_updated: pm_1 us_bank_account TEST BANK •••• 6789",
		stripeBody("customer.source.updated", `"id":"card_1","object":"card","brand":"Visa","last4":"4242","exp_month":12,"exp_year":2031`):       "method_updated: card_1 card Visa •••• 4242 2031-12",
		stripeBody("customer.source.deleted", `"id":"src_1","object":"source","type":"card","card":{"last4":"1","exp_month":13,"exp_year":2031}`): "method_removed: src_1 card •••• 1",

		stripeBody("review.opened", reviewed(`"open":true,"reason":"rule","opened_reason":"rule"`)):           "review: review prv_1 open of pi_1",
		stripeBody("review.closed", reviewed(`"open":false,"reason":"approved","closed_reason":"approved"`)):  "review: review prv_1 approved of pi_1",
		stripeBody("review.closed", reviewed(`"open":false,"reason":"acknowledged"`)):                         "review: review prv_1 approved of pi_1",
		stripeBody("payment_intent.succeeded", `"id":"pi_1","object":"payment_intent","review":"prv_1"`):      "succeeded: review prv_1 open of pi_1",
		stripeBody("payment_intent.succeeded", `"id":"pi_1","object":"payment_intent","review":null`):         "succeeded:",
		stripeBody("payment_intent.succeeded", `"id":"pi_1","object":"payment_intent","review":{"id":"prv"}`): "succeeded: review prv open of pi_1",
		stripeBody("charge.succeeded", `"id":"ch_1","object":"charge","captured":true,"review":"prv_1"`):      "succeeded: review prv_1 open of ch_1",
	}
	for _, reason := range []string{"refunded", "refunded_as_fraud", "disputed", "canceled", "payment_never_settled", "redacted", "new"} {
		bodies[stripeBody("review.closed", reviewed(`"open":false,"reason":"rule","closed_reason":"`+reason+`"`))] = "review: review prv_1 declined of pi_1"
	}
	providertest.Stored(t, newVerifier(t), bodies)
	providertest.RequireUnreadable(t, newVerifier(t), providertest.Signed(t, newVerifier(t), stripeBody("payment_method.detached", `"object":"payment_method"`)))
}
