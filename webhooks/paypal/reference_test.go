package paypal_test

import (
	"strings"
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/paypal"
)

func TestBegunElsewhere(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		paypalBody,
		`{"id":"WH-2","event_type":"CHECKOUT.ORDER.APPROVED","resource":{"id":"O1","status":"APPROVED","purchase_units":[{"custom_id":"att_1"}]}}`,
		`{"id":"WH-3","event_type":"PAYMENT.AUTHORIZATION.CREATED","resource":{"id":"A1","status":"CREATED","custom_id":"att_1"}}`,
	} {
		providertest.BegunElsewhere(t, newVerifier(t), paypal.About().Reference, func(text string, _ map[string]string) string {
			return strings.Replace(body, "att_1", text, 1)
		})
	}
}
