package mollie_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestDisputes(t *testing.T) {
	t.Parallel()
	const entity = `"paymentId":"tr_1","amount":{"value":"7.00","currency":"EUR"},"reason":{"code":"AC01","description":"Account identifier incorrect"}`
	providertest.Disputes(t, newVerifier(t), map[string]string{
		mollieBody("chargeback.received", "chb_1", entity): "chargeback: chb_1 lost for AC01 of 700 EUR",
		mollieBody("chargeback.reversed", "chb_1", entity): "chargeback_reversed: chb_1 won for AC01 of 700 EUR",
		mollieBody("dispute.created", "dp_1", entity):      "disputed: none", // no dispute that the API has
		mollieBody("payment.paid", "tr_1", mollieSnapshot): "succeeded: none",
	})
}
