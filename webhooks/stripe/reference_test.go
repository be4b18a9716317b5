package stripe_test

import (
	"strings"
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/stripe"
)

func TestBegunElsewhere(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		intentSucceeded,
		`{"id":"evt_2","type":"charge.succeeded","data":{"object":{"id":"ch_1","object":"charge","payment_intent":"pi_1","captured":true,"amount":1999,` +
			`"amount_captured":1999,"currency":"eur","metadata":{"payment_attempt_id":"att_1"}}}}`,
		`{"id":"evt_3","type":"checkout.session.completed","data":{"object":{"id":"cs_1","object":"checkout.session","payment_intent":"pi_1",` +
			`"payment_status":"paid","amount_total":1999,"currency":"eur","client_reference_id":"A-17","metadata":{"payment_attempt_id":"att_1"}}}}`,
	} {
		providertest.BegunElsewhere(t, newVerifier(t), stripe.About().Reference, func(_ string, metadata map[string]string) string {
			return strings.Replace(body, `{"payment_attempt_id":"att_1"}`, providertest.JSON(metadata), 1)
		})
	}
}
