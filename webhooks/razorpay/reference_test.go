package razorpay_test

import (
	"strings"
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/razorpay"
)

func TestBegunElsewhere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"payment.authorized", "payment.captured", "order.paid"} {
		providertest.BegunElsewhere(t, newVerifier(t), razorpay.About().Reference, func(_ string, metadata map[string]string) string {
			return strings.Replace(razorpayBody(name, "payment", razorpayPayment, "order", razorpayOrder),
				`{"payment_attempt_id":"att_1"}`, providertest.JSON(metadata), 1)
		})
	}
}
